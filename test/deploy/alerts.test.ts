import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { folder } from '../support/process.js'
import { deployed, ROOT } from './files.js'

const { pathOf } = (await import(new URL('scripts/test-setup.mjs', ROOT).href)) as {
  pathOf: (program: string) => string | undefined
}
const withPromtool = { skip: pathOf('promtool') === undefined && 'not installed: promtool (Debian package prometheus)' }

const CASES = readFileSync(new URL('test/deploy/alerts.yml', ROOT), 'utf8')

interface Rules { groups: Array<{ rules: Array<{ alert: string }> }> }
interface Cases { tests: Array<{ alert_rule_test: Array<{ alertname: string, exp_alerts?: object[] }> }> }

t.test('each alert has a case that provokes it', async t => {
  const alerts = (parse(deployed('prometheus/rules.yml')) as Rules).groups.flatMap(({ rules }) =>
    rules.map(({ alert }) => alert)
  )
  const provoked = (parse(CASES) as Cases).tests.flatMap(({ alert_rule_test: cases }) =>
    cases.filter(({ exp_alerts: expected = [] }) => expected.length > 0).map(({ alertname }) => alertname)
  )
  t.strictSame(alerts.toSorted(), [...new Set(provoked)].toSorted())
})

t.test('the alerts fire when they are provoked, and only then', withPromtool, async t => {
  const place = await folder(t, { 'rules.yml': deployed('prometheus/rules.yml'), 'alerts.yml': CASES })
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.yml'], {
    cwd: place,
    encoding: 'utf8'
  })
  t.equal(status, 0, stdout + stderr)
})

t.test('Prometheus takes the configuration of the compose file', withPromtool, async t => {
  const place = await folder(t, {
    'rules.yml': deployed('prometheus/rules.yml'),
    'prometheus.yml': deployed('prometheus/prometheus.yml')
  })
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', 'prometheus.yml'], {
    cwd: place,
    encoding: 'utf8'
  })
  t.equal(status, 0, stdout + stderr)
})
