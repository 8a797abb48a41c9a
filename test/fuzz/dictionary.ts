/** What the protocol gives a meaning, and what looks as if it did. None of these names reaches beyond the gateway. */
export const METHODS = [
  'initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read', 'resources/subscribe', 'resources/unsubscribe',
  'prompts/list', 'prompts/get', 'completion/complete', 'logging/setLevel', 'server/discover', 'subscriptions/listen', 'notifications/initialized', 'initialized',
  'notifications/cancelled', 'notifications/progress', 'notifications/roots/list_changed', 'sampling/createMessage', 'elicitation/create', 'roots/list',
  'tasks/get', 'tasks/cancel', '__proto__', 'constructor', 'toString', 'rpc.discover', '', 'tools/', 'TOOLS/LIST', 'tools/list\u0000', 'ｔools/list'
]

export const TOOLS = [
  'echo', 'slow', 'boom', 'refuse', 'ask_name', 'ask_model', 'ask_roots', 'say', 'every_block', 'calculate', 'add_note', 'get_notes', 'delete_note', 'summarize_notes',
  'increment_counter', 'get_current_time', 'health_check', 'list_roots', 'long_running_task', '__proto__', 'constructor', 'hasOwnProperty', '', 'Echo', 'echo '
]

export const URIS = [
  'test://text', 'test://bytes', 'test://item/one', 'test://item/missing', 'test://item/', 'test://item/%00', 'test://item/%zz', 'test://item/{id}', 'note:///1',
  'note:///', 'note:///__proto__', 'server://status', 'server://counter', 'file:///etc/passwd', 'file://evil/x', 'file:///../..', 'http://127.0.0.1/', 'x', '', '://', 'test://text#',
  'test://item/a/b', 'test://item/%E2%82', 'javascript:1', 'data:,x'
]

export const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', '1900-01-01', '9999-12-31', 'banana', '', '2025-11-25 ', 'DRAFT-2026-v1', '__proto__']

export const LEVELS = ['debug', 'info', 'notice', 'warning', 'warn', 'error', 'critical', 'alert', 'emergency', 'fatal', '', 'INFO', '__proto__']

const META = 'io.modelcontextprotocol/'
export const META_KEYS = [`${META}protocolVersion`, `${META}clientCapabilities`, `${META}clientInfo`, `${META}logLevel`, `${META}subscriptionId`, 'progressToken', `${META}`, 'traceparent']

export const KEYS = [
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'toJSON', 'length', '', ' ', '0', '-1', 'id', 'jsonrpc', 'method', 'params', 'result',
  'error', '_meta', 'name', 'arguments', 'uri', 'cursor', 'requestId', 'reason', 'requestState', 'inputResponses', 'resultType', 'level', 'ref', 'argument', 'context', 'notifications',
  'resourceSubscriptions', 'capabilities', 'clientInfo', 'protocolVersion', 'task', 'é', '\u0000', '\u2028', 'Method', ...META_KEYS
]

/** Values as JSON text, the odd next to the ordinary. */
export const VALUES = [
  'null', 'true', 'false', '0', '-0', '1', '-1', '7', '1.5', '1e0', '1E400', '-1e400', '1e-400', '9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740992', '4294967296',
  '2147483648', '0.1e1', '123456789012345678901234567890', '""', '"x"', '"0"', '"1"', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ufeff"', '"\\u2028\\u2029"', '"\\uffff"', '"🦉"', '"e\\u0301"',
  '"\\u202e"', '"__proto__"', '"constructor"', '"../../x"', '"%00"', '"\\r\\n"', '"{{state}}"', '"{{cursor}}"', '[]', '{}', '[[]]', '[{}]', '[null]', '{"":null}', '{"a":{"b":[]}}',
  '{"constructor":{"prototype":{"polluted":1}}}', '{"__proto__":{"polluted":1}}', '{"then":1}', '{"toJSON":1}', '{"length":1e9}'
]

/** What is no JSON, where a value should be. */
export const BROKEN = ['NaN', 'Infinity', '-', '01', '.5', '1.', "'x'", 'undefined', '"', '"\\x"', '"\\u12"', '{', ']', ',', '/**/1', '0x1', '"\t"', '+1', '#', '']
