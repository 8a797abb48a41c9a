import Fastify from 'fastify'
import t from 'tap'
import { COMMAND_NAMES } from '../../cli/commands.js'
import { checkNode } from '../../cli/process/node-version.js'
import { describeStartError } from '../../cli/process/start-error.js'
import { npmFlagsWarning } from '../../cli/settings/parse-arguments.js'
import { launch, PROCESSES } from '../support/process.js'
import { version } from '../../version.js'

t.test('the words of the command', async t => {
  t.jobs = PROCESSES

  t.test('help and version are words, too', { buffered: true }, async t => {
    t.match(await launch(t, ['help']).exit(), { code: 0, stdout: /^Usage: patchbay /, stderr: '' })
    const { stdout: usage } = await launch(t, ['help']).exit()
    t.ok(usage.split('\n').length <= 40, 'it fits a screen')
    for (const name of COMMAND_NAMES) t.match(usage, new RegExp(`\\b${name}\\b`), `it names ${name}`)
    const { stdout } = await launch(t, ['help', 'serve']).exit()
    t.match(stdout, /The command line overrides the\nenvironment, and the environment overrides the config file\./)
    t.match(await launch(t, ['version']).exit(), { code: 0, stdout: `${version}\n`, stderr: '' })
  })

  for (const name of COMMAND_NAMES) {
    t.test(`patchbay ${name} has a help with an example`, { buffered: true }, async t => {
      const { code, stdout, stderr } = await launch(t, [name, '--help']).exit()
      t.match({ code, stderr }, { code: 0, stderr: '' })
      t.match(stdout, /^Usage: patchbay /)
      if (name !== 'help' && name !== 'version') t.match(stdout, /^For example: patchbay /m)
      for (const line of stdout.split('\n')) t.ok(line.length <= 80 || line.startsWith('/'), line)
      if (name === 'key') t.equal((await launch(t, ['help', name]).exit()).stdout, stdout, 'help as a word')
    })
  }

  for (const args of [['key', '-h'], ['key', 'help'], ['clients', 'cursor', '-h'], ['serve', '--port', '1', '--help']]) {
    t.test(`patchbay ${args.join(' ')} shows the help of the command`, { buffered: true }, async t =>
      t.match(await launch(t, args).exit(), {
        code: 0,
        stdout: new RegExp(`^Usage: patchbay \\[?${args[0]}\\b`),
        stderr: ''
      })
    )
  }

  t.test('options that npm took for its own are named', { buffered: true }, async t => {
    const started = launch(t, ['--stdio', '--ephemeral'], {
      env: {
        npm_lifecycle_event: 'start',
        npm_config_reload: 'true',
        npm_config_log_level: 'debug',
        npm_config_version: '1'
      }
    })
    started.end()
    t.match(await started.exit(), {
      code: 0,
      stderr:
        /^\{"level":40,.*"msg":"npm took --reload and --log-level for its own; npm needs two dashes before options: npm start -- --reload --log-level"\}\n/
    })
    t.equal(npmFlagsWarning(['reload'], { npm_config_reload: 'true' }), undefined, 'not started by npm start')
    t.equal(npmFlagsWarning(['reload'], { npm_lifecycle_event: 'start', npm_config_cache: '/x' }), undefined)
  })

  t.test('help is shown even if the settings are wrong', { buffered: true }, async t => {
    t.match(await launch(t, ['--help'], { env: { PATCHBAY_PORT: 'x' } }).exit(), { code: 0, stdout: /^Usage: / })
  })

  for (const [args, stderr] of [
    [['init'], 'patchbay: there is no command "init"; see patchbay help\n'],
    [
      ['9000'],
      'patchbay: there is no command "9000"; a port is an option: --port 9000, and npm needs two dashes: npm start -- --port 9000\n'
    ],
    [['hlep'], 'patchbay: there is no command "hlep"; did you mean "help"?\n'],
    [['constructor'], 'patchbay: there is no command "constructor"; see patchbay help\n'],
    [['--prot', '80'], 'patchbay: there is no option --prot; did you mean --port?\n'],
    [
      ['--page-size', '5'],
      'patchbay: there is no option --page-size on the command line; set pageSize in the config file or PATCHBAY_PAGE_SIZE in the environment\n'
    ],
    [['--port', '80', 'stdio'], 'patchbay: "stdio" is not an option; did you mean --stdio?\n'],
    [['--nonsense'], 'patchbay: there is no option --nonsense; see patchbay --help\n']
  ] as Array<[string[], string]>) {
    t.test(`patchbay ${args.join(' ')} gets a hint`, { buffered: true }, async t =>
      t.match(await launch(t, args).exit(), { code: 1, stdout: '', stderr })
    )
  }
})

t.test('a port in use gets a hint for two clients that launch the same command', async t => {
  const error = Object.assign(new Error('x'), { code: 'EADDRINUSE', port: 8080, address: '127.0.0.1' })
  t.strictSame(describeStartError(error, false), [
    'port 8080 on 127.0.0.1 is in use; choose another with --port or PATCHBAY_PORT'
  ])
  t.match(
    describeStartError(error, true)[0],
    /; if two clients launch this command, give each its own port, or only --stdio$/
  )
})

t.test('a start that takes too long is given up in words that say what to do', async t => {
  const app = Fastify({ pluginTimeout: 10 }).register(async () => await new Promise(() => {}))
  const error = await app.ready().then(() => undefined, (error: Error) => error)
  t.match(describeStartError(error ?? new Error('it is ready'), false), [
    /^the start took too long and was given up; .* try again$/
  ])
})

t.test('a Node.js that is too old is refused in one sentence', async t => {
  for (const old of ['18.20.4', '20.18.3', '16.0.0']) {
    t.throws(() => checkNode(old), { message: `this is Node.js ${old}, and Patchbay needs 20.19 or newer` })
  }
  for (const good of ['20.19.0', '20.20.2', '22.0.0', '26.10.0']) t.doesNotThrow(() => checkNode(good))
})
