import t, { type Test } from 'tap'
import { NodeCalls } from '../../../protocol/nodes/node-calls.js'
import { SessionRegistry } from '../../../protocol/sessions/registry.js'
import type { Session } from '../../../protocol/sessions/session.js'
import type { Sink, StreamEvent } from '../../../protocol/sessions/streams/sink.js'
import type { SessionStore } from '../../../protocol/store.js'
import { decode } from '../../../protocol/wire/jsonrpc.js'
import { dataFolder, opened } from '../../support/environment/on-disk.js'
import { revision } from '../../support/recorder.js'
import { until } from '../../support/wait.js'

const LISTS = ['tools', 'prompts', 'resources'].map(kind => `notifications/${kind}/list_changed`)
const [TOOLS, PROMPTS, RESOURCES] = LISTS as [string, string, string]
const UPDATED = 'notifications/resources/updated'
const NOW = 'notifications/message'
const URI = 'test://a'

/** A client that reads the standalone stream. */
class Client implements Sink {
  readonly methods: string[] = []
  write ({ method = '' }: StreamEvent): void { if (method !== '') this.methods.push(method) }
  end (): void {}
  close (): void {}

  /** All that was heard before a message that is sent now. */
  async heardUntilNow (session: Session): Promise<string[]> {
    session.emit('now', NOW)
    await until(() => this.methods.includes(NOW), 'the message')
    return this.methods.splice(0).filter(method => method !== NOW)
  }
}

/** A node whose store's methods a test may replace. */
class TestNode {
  readonly replaced: Partial<SessionStore> = {}
  readonly subscribed: string[] = []
  /** Settles when subscribing to a resource may go on. */
  subscribing: Promise<void> | undefined
  readonly sessions: SessionRegistry
  readonly self: string | undefined
  readonly real: SessionStore
  readonly close: () => Promise<void>

  constructor (t: Test, folder: string, defersAnnouncements: boolean) {
    const store = opened(t, folder)
    const nodeCalls = new NodeCalls(store.nodes)
    const stop = nodeCalls.start()
    this.self = store.nodes.self
    this.real = store.sessions
    this.sessions = new SessionRegistry({ maxSessions: 9, maxSessionsPerPrincipal: 9, sessionIdle: 60_000 }, {
      store: new Proxy(store.sessions, {
        get: (target, name: keyof SessionStore) => this.replaced[name] ?? target[name].bind(target)
      }),
      nodeCalls,
      defersAnnouncements,
      decode,
      connect: () => {},
      disconnect: (peer, reason) => peer.close(reason),
      checkPressure: () => {},
      checkStore: () => {},
      reportHealth: () => {},
      subscribe: async uri => {
        this.subscribed.push(uri)
        await this.subscribing
      },
      unsubscribe: () => {},
      onTrouble: error => { t.error(error) }
    })
    this.close = async () => {
      this.sessions.close()
      stop()
      await store.close()
    }
    t.teardown(async () => await this.close().catch(() => {}))
  }

  /** The session as this node serves it, read again if it has to be. */
  async serve (id: string): Promise<Session> {
    await this.sessions.restore(id)
    const session = this.sessions.find(id)
    if (session === undefined) throw new Error(`there is no session ${id}`)
    return session
  }

  /** Serves the session after it was noticed that its home has left. */
  async readAgain (id: string): Promise<void> {
    const session = await this.serve(id)
    session.stale = true
    await this.serve(id)
  }

  /** Connects a client to the session at this node. */
  async listen (id: string): Promise<{ client: Client, session: Session }> {
    const session = await this.serve(id)
    const client = new Client()
    session.standalone.attach(client)
    return { client, session }
  }

  async createSession (): Promise<string> {
    const session = this.sessions.create({ revision: revision('2025-11-25') })
    await this.sessions.open(session)
    return session.id
  }

  /** Subscribes to a resource, as a request of the client does. */
  async subscribe (id: string): Promise<void> {
    const session = await this.serve(id)
    session.peer.setSubscribed(URI, true)
    await this.sessions.save(session)
  }

  /** Returns a function that lets the next attach go on, which waits before the store is asked, or after. */
  holdAttach (when: 'before' | 'after'): () => void {
    let release = (): void => {}
    const released = new Promise<void>(resolve => { release = resolve })
    this.replaced.attach = async (...args) => {
      delete this.replaced.attach
      if (when === 'before') await released
      const replay = await this.real.attach(...args)
      await released
      return replay
    }
    return release
  }
}

for (const defers of [false, true]) {
  t.test(`announcements wait in the ${defers ? 'process' : 'store'}`, async t => {
    /** Three nodes on one store, of which the first has a session that the others serve, too. */
    async function served (t: Test) {
      const folder = await dataFolder(t)
      const [one, two, three] = [0, 1, 2].map(() => new TestNode(t, folder, defers)) as [TestNode, TestNode, TestNode]
      const id = await one.createSession()
      for (const node of [two, three]) await node.serve(id)
      const nodes = [one, two, three]
      /** Announces a change at all nodes; settles when it is stored, where it is. */
      const announce = async (method: string, params?: object): Promise<void> => {
        for (const { sessions } of nodes) sessions.find(id)?.peer.notify(method, params)
        for (const { sessions } of nodes) await sessions.find(id)?.settled()
      }
      return { id, one, two, three, nodes, announce }
    }

    t.test('a change is heard once, from the node that opened the session', async t => {
      const { id, one, announce } = await served(t)
      for (const method of [TOOLS, PROMPTS, TOOLS]) await announce(method)
      const { client, session } = await one.listen(id)
      await until(() => client.methods.length >= 2)
      t.strictSame((await client.heardUntilNow(session)).sort(), [PROMPTS, TOOLS])
      await announce(TOOLS)
      await announce(TOOLS)
      t.strictSame(await client.heardUntilNow(session), [TOOLS, TOOLS], 'a client that is connected hears each')
      session.standalone.detach(client)
      for (const method of [TOOLS, TOOLS]) await announce(method)
      const next = await one.listen(id)
      await until(() => next.client.methods.length >= 1)
      t.strictSame(await next.client.heardUntilNow(session), [TOOLS])
    })

    t.test('updates of a resource wait once until a client has connected, and then each', async t => {
      const { id, one, announce } = await served(t)
      const update = async (): Promise<void> => {
        for (let times = 0; times < 3; times++) await announce(UPDATED, { uri: URI })
      }
      await update()
      const first = await one.listen(id)
      await until(() => first.client.methods.length >= 1)
      t.strictSame(await first.client.heardUntilNow(first.session), [UPDATED])
      first.session.standalone.detach(first.client)
      await update()
      const second = await one.listen(id)
      await until(() => second.client.methods.length >= 3)
      t.strictSame(await second.client.heardUntilNow(second.session), [UPDATED, UPDATED, UPDATED])
    })

    t.test('what waits is heard once at the node where the client connects, which announces from then on', async t => {
      const { id, one, two, announce } = await served(t)
      await announce(TOOLS)
      const { client, session } = await two.listen(id)
      await until(() => client.methods.length >= 1)
      t.strictSame(await client.heardUntilNow(session), [TOOLS])
      t.match(await one.real.load(id), { home: two.self })
      await until(
        () => one.sessions.restore(id) !== undefined,
        'the node before reads the session again before its next use'
      )
      await announce(PROMPTS)
      await until(() => client.methods.length >= 1)
      t.strictSame(await client.heardUntilNow(session), [PROMPTS])
    })

    for (const when of ['before', 'after'] as const) {
      t.test(
        `a change while a client connects is heard once, ${when} the store has made the node the reader`,
        async t => {
          const { id, one, two, nodes } = await served(t)
          const release = two.holdAttach(when)
          const { client, session } = await two.listen(id)
          if (when === 'after') await until(() => one.sessions.restore(id) !== undefined, 'the move')
          else await until(() => two.replaced.attach === undefined, 'the attach')
          for (const method of [TOOLS, RESOURCES]) {
            for (const { sessions } of nodes) sessions.find(id)?.peer.notify(method)
          }
          await one.sessions.flush()
          release()
          await until(() => client.methods.length >= 2)
          t.strictSame((await client.heardUntilNow(session)).sort(), [RESOURCES, TOOLS])
        }
      )
    }

    t.test('a client that goes before it is served leaves the home where it was, and nothing is kept back', async t => {
      const { id, one, two, three } = await served(t)
      const session = await two.serve(id)
      const client = new Client()
      session.standalone.attach(client)
      session.standalone.detach(client)
      await session.settled()
      t.match(await one.real.load(id), { home: one.self })
      await one.close()
      await two.subscribe(id)
      t.match(await two.real.load(id), { home: two.self }, 'the first node has left')
      const later = await three.listen(id)
      await until(() => later.client.methods.length >= 4, 'that all may have changed')
      t.strictSame((await later.client.heardUntilNow(later.session)).sort(), [...LISTS, UPDATED].sort())
    })

    t.test('a client that moves on while a node takes over hears that all may have changed', async t => {
      const { id, one, two, three, announce } = await served(t)
      await one.subscribe(id)
      for (const node of [two, three]) await node.readAgain(id)
      await announce(TOOLS)
      let goOn = (): void => {}
      two.subscribing = new Promise(resolve => { goOn = resolve })
      await two.listen(id)
      await until(async () => (await one.real.load(id))?.home === two.self, 'the first move')
      await announce(PROMPTS)
      const { client, session } = await three.listen(id)
      await until(() => [...LISTS, UPDATED].every(method => client.methods.includes(method)), 'all announcements')
      goOn()
      await two.serve(id)
      await client.heardUntilNow(session)
      await announce(RESOURCES)
      t.strictSame(await client.heardUntilNow(session), [RESOURCES])
    })

    t.test('a node that becomes the home again announces what it had announced before', async t => {
      const { id, one, two, three, announce } = await served(t)
      await announce(TOOLS)
      const { client } = await two.listen(id)
      await until(() => client.methods.length >= 1)
      await until(() => one.sessions.restore(id) !== undefined, 'the move')
      await two.close()
      await one.readAgain(id)
      t.match(await one.real.load(id), { home: one.self })
      const later = await three.listen(id)
      await until(() => later.client.methods.length >= 3, 'that all lists may have changed')
      t.strictSame((await later.client.heardUntilNow(later.session)).sort(), [...LISTS].sort())
    })

    t.test(
      'a node that reads a session whose home has left becomes its home, and says that all may have changed',
      async t => {
        const { id, one, two, three } = await served(t)
        await one.subscribe(id)
        await one.close()
        await two.readAgain(id)
        t.match(await two.real.load(id), { home: two.self })
        t.ok(two.subscribed.includes(URI))
        const { client, session } = await three.listen(id)
        await until(() => client.methods.length >= 4)
        t.strictSame((await client.heardUntilNow(session)).sort(), [...LISTS, UPDATED].sort())
      }
    )

    t.test('the home knows of a change of the session before that is saved, wherever the home is by then', async t => {
      const { id, one, two, three } = await served(t)
      const { client } = await three.listen(id)
      await until(async () => (await one.real.load(id))?.home === three.self, 'the move')
      await two.subscribe(id)
      t.ok(three.subscribed.includes(URI), 'also for a node that has not heard of the move')
      t.strictSame(client.methods, [])
    })

    t.test('a node that has lost the home makes the new one know of a change that it saves', async t => {
      const { id, one, two } = await served(t)
      const session = await one.serve(id)
      await two.listen(id)
      await until(() => session.stale, 'the news of the move')
      session.peer.setSubscribed(URI, true)
      await one.sessions.save(session)
      t.ok(two.subscribed.includes(URI))
    })
  })
}
