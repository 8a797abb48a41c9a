import type { ServerEntry } from '../server-entry.js'

/** The capabilities that a server with a handshake gets. They are fixed before it is known who will call, so roots are those of the configuration. */
export function capabilitiesOf ({ elicitation, sampling, roots }: ServerEntry): object {
  return {
    ...(elicitation ? { elicitation: { form: {}, url: {} } } : {}),
    ...(sampling ? { sampling: {} } : {}),
    ...(roots === undefined ? {} : { roots: {} })
  }
}
