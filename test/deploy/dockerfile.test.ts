import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ROOT, environmentOf, instructions } from './files.js'
import { checkExposure } from '../../cli/exposure.js'
import { readSettings } from '../../cli/settings/read-settings.js'
import { resolveOptions } from '../../options.js'

const steps = instructions()
const all = (name: string): string[] => steps.filter(step => step.name === name).map(({ text }) => text)
const { engines, dependencies } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  engines: { node: string }
  dependencies: Record<string, string>
}

t.test('what the image is made of is there, and not left out by .dockerignore', async t => {
  const ignored = readFileSync(new URL('.dockerignore', ROOT), 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
  const copied = all('COPY').filter(text => !text.startsWith('--')).flatMap(text => text.split(' ').slice(0, -1))
  t.strictSame(copied, ['package.json', 'package-lock.json', '.'])
  for (const path of copied) t.ok(existsSync(new URL(path, ROOT)), path)
  for (const made of ['node_modules', 'build', 'dist', '.git']) {
    t.ok(ignored.includes(made), `${made} is not sent to the builder`)
  }
  const { include } = JSON.parse(readFileSync(new URL('tsconfig.json', ROOT), 'utf8')) as { include: string[] }
  for (const folder of [...include, 'scripts', 'package.json', 'LICENSE']) t.notOk(ignored.includes(folder), folder)
})

t.test('the runtime stage takes what the command needs, and no more', async t => {
  t.strictSame(
    all('COPY')
      .filter(text => text.startsWith('--from=build'))
      .map(text => text.replace(/^(--\S+ )+/, '')),
    [
      '/patchbay/package.json /patchbay/LICENSE ./',
      '/patchbay/node_modules ./node_modules',
      '/patchbay/dist ./dist',
      '/empty /data'
    ]
  )
  t.match(all('RUN').join('\n'), /npm ci --ignore-scripts[^]*npm run build && npm prune --omit=dev/)
  for (const name of Object.keys(dependencies)) {
    t.ok(existsSync(new URL(`node_modules/${name}`, ROOT)), `${name} is a package that stays after the prune`)
  }
})

t.test('it runs without a shell, as another user than root, with a supported Node.js', async t => {
  const [build = '', run = ''] = all('FROM')
  t.match(build, /^node:24-slim AS build$/)
  t.match(run, /^gcr\.io\/distroless\/nodejs24-debian13:nonroot$/)
  t.equal(engines.node, '>=20.19')
  t.strictSame(all('USER'), ['65532:65532'])
  for (const text of [...all('ENTRYPOINT'), ...all('HEALTHCHECK').map(text => text.slice(text.indexOf('CMD ') + 4))]) {
    t.match(JSON.parse(text), ['/nodejs/bin/node'], 'a list of words needs no shell')
  }
  t.strictSame([all('EXPOSE'), all('VOLUME')], [['8080'], ['/data']])
})

t.test('without options it refuses to serve everyone; with a name and a choice of callers it starts', async t => {
  const options = (more: Record<string, string>) =>
    resolveOptions(readSettings([], { ...environmentOf(steps), ...more }, fileURLToPath(ROOT)).options)
  t.throws(
    () => checkExposure(options({})),
    /which other machines can reach, so say who may call \(apiKeys or oauth\) and which names they use/
  )
  t.doesNotThrow(() =>
    checkExposure(options({ PATCHBAY_ALLOWED_HOSTS: 'localhost', PATCHBAY_ALLOW_ANONYMOUS: 'true' }))
  )
  t.match(options({}), { host: '0.0.0.0', port: 8080 })
})
