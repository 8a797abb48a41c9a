import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Target } from '../../../protocol/dispatch/target.js'
import { errors } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'

/** The target of a call, which is refused where only tools that read may run and this one does not say that it does. */
export function onlyReading (target: Target<Tool> | undefined, { channel }: Call): Target<Tool> | undefined {
  const tool = target?.item
  if (tool === undefined || channel.onlyReads !== true || isReadOnly(tool)) return target
  return { ...target as Target<Tool>, leftOut: () => errors.notReadOnly(tool.name) }
}

const isReadOnly = ({ listed: { annotations } }: Tool): boolean =>
  isObject(annotations) && annotations['readOnlyHint'] === true
