import { mayWatch, type Client } from '../client/contract.js'
import { Approvals } from './approvals.js'
import { Tasks } from './tasks.js'

/** The pages of operators besides Watch. */
export function Operate ({ client, view }: { client: Client | undefined, view: 'approvals' | 'tasks' }) {
  if (view === 'tasks') return <Tasks client={client} />
  return <Approvals client={client} isAllowed={client === undefined || mayWatch(client)} />
}
