import type { Call } from '../../protocol/dispatch/call.js'
import { APPS_EXTENSION } from '../../protocol/definitions/app.js'
import { NO_CAPABILITIES } from '../../protocol/revisions/client-side.js'
import { isObject } from '../../protocol/wire/json.js'
import type { ServerEntry } from '../server-entry.js'

type Allowed = Pick<ServerEntry, 'elicitation' | 'sampling'>

/** The kinds of questions that are relayed, with the parts of their capabilities. */
const RELAYED = { elicitation: ['form', 'url'], sampling: ['tools', 'context'], roots: [] } as const

/**
 * Capabilities of the call's client that questions need, as far as they are relayed and the entry allows them, and
 * that it shows apps; none where it has no stream to be asked on.
 */
export function askableCapabilities (
  call: Pick<Call, 'capabilities' | 'channel' | 'revision' | 'conversation'>,
  allowed: Allowed
): Readonly<Record<string, object>> {
  const { revision, channel, capabilities } = call
  const { features, stateless } = revision
  if (!stateless && (!channel.streams || call.conversation.replaced)) return NO_CAPABILITIES
  if (channel.isAnswered === true || Object.keys(capabilities).length === 0) return NO_CAPABILITIES
  const askable: Record<string, object> = {}
  for (const [name, parts] of Object.entries(RELAYED)) {
    const declared = capabilities[name]
    if (
      !isObject(declared) ||
      isForbidden(name, allowed) ||
      (name === 'elicitation' && features.elicitation === 'none')
    ) { continue }
    const known = parts.filter(
      part =>
        part in declared &&
        (part !== 'url' || features.elicitation === 'url') &&
        (part !== 'tools' || features.samplingTools)
    )
    // Where the client has named only parts that its revision does not know, an empty object would stand for forms.
    if (name === 'elicitation' && known.length === 0 && Object.keys(declared).length > 0) continue
    askable[name] = Object.fromEntries(known.map(part => [part, declared[part]]))
  }
  const { extensions } = capabilities
  const apps = isObject(extensions) ? extensions[APPS_EXTENSION] : undefined
  if (isObject(apps)) askable['extensions'] = { [APPS_EXTENSION]: apps }
  return askable
}

const isForbidden = (name: string, { elicitation, sampling }: Allowed): boolean =>
  (name === 'elicitation' && !elicitation) || (name === 'sampling' && !sampling)
