import type { FastifyInstance } from 'fastify'
import type { Definition } from '../definitions.js'
import { NeedsRestart, type Registration } from './registration.js'

type Mcp = FastifyInstance['mcp']

/** Members of a Fastify application that change it for good, and what they add. */
const PERMANENT: Record<string, string> = {
  ...Object.fromEntries(
    ['route', 'get', 'head', 'post', 'put', 'delete', 'options', 'patch', 'all', 'addHttpMethod'].map(name => [
      name,
      'a route'
    ])
  ),
  ...Object.fromEntries(['decorate', 'decorateRequest', 'decorateReply'].map(name => [name, 'a decorator'])),
  register: 'a plugin',
  addContentTypeParser: 'a content type parser',
  removeContentTypeParser: 'a content type parser',
  removeAllContentTypeParsers: 'a content type parser',
  setErrorHandler: 'an error handler',
  setNotFoundHandler: 'a handler of unknown URLs',
  setValidatorCompiler: 'a compiler',
  setSerializerCompiler: 'a compiler',
  setReplySerializer: 'a serializer',
  addSchema: 'a schema',
  addConstraintStrategy: 'a constraint'
}

/** Members of `app.mcp` whose use cannot be undone. */
const PERMANENT_OF_MCP = ['provide', 'paginate', 'announce', 'skills', 'dispatcher']

type Hook = (...args: unknown[]) => unknown

/**
 * The application as a plugin of a watched file sees it: what it registers is recorded, so that a later version of the
 * file can replace it.
 */
export function recordingApp (app: FastifyInstance, registration: Registration): FastifyInstance {
  const recording = Object.create(app) as FastifyInstance
  const permanent = Object.entries(PERMANENT).map(([name, what]) => [name, {
    value: (...args: unknown[]) => {
      registration.notePermanent(what)
      return callOn(app, name, args, recording)
    }
  }])
  return Object.defineProperties(recording, {
    ...Object.fromEntries(permanent) as PropertyDescriptorMap,
    addHook: {
      value: (name: string, hook: Hook) => {
        if (name === 'onClose') registration.closeHooks.push(() => settle(hook, app))
        else if (name === 'onReady' && registration.isStaged) registration.readyHooks.push(() => settle(hook))
        else {
          if (name !== 'onReady') registration.notePermanent(`the hook ${name}`)
          callOn(app, 'addHook', [name, hook], recording)
        }
        return recording
      }
    },
    mcp: { value: recordingMcp(app.mcp, registration) }
  })
}

/** Calls a member of the application itself, of which Fastify keeps track. */
function callOn (app: FastifyInstance, name: string, args: unknown[], recording: FastifyInstance): unknown {
  const member = app[name as keyof FastifyInstance] as Hook
  const result = member.apply(app, args)
  return result === app ? recording : result
}

/** Calls a hook of an author, with a callback if it takes one more argument than are given. */
async function settle (hook: Hook, ...given: unknown[]): Promise<void> {
  if (hook.length <= given.length) await hook(...given)
  else {
    await new Promise<void>((resolve, reject) => {
      hook(...given, (error?: Error | null) => (error == null ? resolve() : reject(error)))
    })
  }
}

function recordingMcp (mcp: Mcp, registration: Registration): Mcp {
  const { tools, prompts, resources } = mcp
  const effect =
    <A extends unknown[]>(add: (...args: A) => () => void) =>
      (...args: A) =>
        registration.apply(() => add(...args))
  const registry = (kind: Definition['kind'], all: { get: (key: string) => Definition | undefined }): object => ({
    add: (item: Definition) => registration.add(checkDefinition(kind, item)),
    replace: (item: Definition) => {
      registration.remove(kind, item.kind === 'resource' ? item.uri : item.name)
      registration.add(checkDefinition(kind, item))
    },
    remove: (key: string) => registration.remove(kind, key),
    get: (key: string) => registration.find(kind, key) ?? all.get(key)
  })
  const values = {
    tools: { ...tools, ...registry('tool', tools) },
    prompts: { ...prompts, ...registry('prompt', prompts) },
    resources: { ...resources, ...registry('resource', resources) },
    use: (middleware: Parameters<Mcp['use']>[0]) => {
      registration.addMiddleware(middleware)
    },
    ...Object.fromEntries(
      (['method', 'notification', 'onBegin', 'onEnd', 'onRefusal', 'onLog', 'onDrain'] as const).map(name => [
        name,
        effect(mcp[name] as (...args: unknown[]) => () => void)
      ])
    )
  }
  const permanent = PERMANENT_OF_MCP.map(name => [name, {
    get: () => {
      registration.notePermanent(`app.mcp.${name}`)
      return mcp[name as keyof Mcp]
    }
  }])
  return Object.create(mcp, {
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])),
    ...Object.fromEntries(permanent) as PropertyDescriptorMap
  }) as Mcp
}

function checkDefinition (kind: Definition['kind'], item: Definition): Definition {
  if (item?.kind !== kind) throw new Error(`${kind}s.add takes what ${kind}({ ... }) returns`)
  return item
}

/** True for the error of a plugin that did something permanent while the gateway runs. */
export const needsRestart = (error: unknown): error is NeedsRestart => error instanceof NeedsRestart
