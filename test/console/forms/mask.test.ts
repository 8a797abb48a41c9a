import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import {
  readDraft,
  formatDraft,
  newDraft,
  withSchema,
  withText,
  withValue,
  type Draft
} from '../../../console/forms/draft.js'
import { numberFrom } from '../../../console/forms/model/number-text.js'
import { fromJson, Typed, type Value } from '../../../console/forms/model/value.js'

const DOTS = '••••••••'
const schema: Json = {
  type: 'object',
  properties: {
    user: { type: 'string' },
    password: { type: 'string', format: 'password' },
    pin: { type: 'integer', writeOnly: true },
    keys: { type: 'array', items: { type: 'string', format: 'password' } }
  }
}
const filled = { user: 'ada', password: 'canary', pin: 4711, keys: ['canary 1', 'canary 2', ''] }
const sent = (draft: Draft): unknown => JSON.parse(JSON.stringify(readDraft(draft).value))

t.test('secrets stand as dots in the JSON, and are sent as they are', async t => {
  const draft = newDraft(schema, filled)
  t.notMatch(draft.text, /canary|4711/)
  t.same(JSON.parse(draft.text), {
    user: 'ada',
    password: DOTS,
    pin: `${DOTS} 2`,
    keys: [`${DOTS} 3`, `${DOTS} 4`, '']
  })
  t.same(sent(draft), filled)
  t.same(sent(formatDraft(draft)), filled)
  t.notMatch(withValue(draft, new Map([['pin', numberFrom('4711x')]])).text, /4711/, 'also what is no number yet')
})

t.test('an edit of the JSON keeps the secrets, also those that move, and sends no dots', async t => {
  const draft = newDraft(schema, filled)
  const edited = withText(
    draft,
    draft.text.replace('"ada"', '"bob"').replace(`"${DOTS} 4"`, '"new"').replace(`"${DOTS} 3"`, `"first", "${DOTS} 3"`)
  )
  t.same(sent(edited), { ...filled, user: 'bob', keys: ['first', 'canary 1', 'new', ''] })
  t.match(edited.text, /"new"/, 'what is typed stays as it was typed')
  t.notMatch(formatDraft(edited).text, /first|new/, 'until it is put in order')
  t.same(sent(formatDraft(edited)), sent(edited))
  const broken = withText(edited, edited.text.slice(0, -1))
  t.same(sent(withText(broken, edited.text)), sent(edited), 'after a mistake, too')
  for (const part of ['•••', `${DOTS}x`, `${DOTS} 9`]) {
    t.match(
      readDraft(withText(draft, draft.text.replace(`"${DOTS}"`, `"${part}"`))),
      { value: undefined, errors: [{ at: '/password', message: /dots/ }] },
      part
    )
  }
})

t.test('dots that a person wrote are no mask', async t => {
  const draft = newDraft(schema, { user: DOTS, password: 'canary' })
  t.same(JSON.parse(draft.text), { user: DOTS, password: `${DOTS}•` })
  t.same(sent(withText(draft, `${draft.text} `)), { user: DOTS, password: 'canary' })
})

t.test('a changed schema keeps the text, and what it hides is sent only where it is still secret', async t => {
  const draft = newDraft(schema, filled)
  const changed = withSchema(draft, { ...schema as object, title: 'new' } as Json)
  t.equal(changed.text, draft.text)
  t.same(sent(changed), filled)
  const open = withSchema(draft, { type: 'object' })
  t.equal(open.text, draft.text)
  t.match(readDraft(open), { value: undefined, errors: [{ at: '/password', message: /dots/ }] })
  t.notMatch(formatDraft(open).text, /canary|4711/)
  t.equal(
    readDraft(withText(formatDraft(open), `${formatDraft(open).text} `)).value,
    undefined,
    'nor are dots sent after it was put in order'
  )
})

t.test('a mask in a place that is not secret shows nothing and sends nothing', async t => {
  const draft = newDraft(schema, filled)
  for (const part of [DOTS, `${DOTS} 2`, `x${DOTS}`]) {
    const edited = withText(draft, draft.text.replace('"ada"', `"${part}"`))
    t.match(readDraft(edited), { value: undefined, errors: [{ at: '/user', message: /dots/ }] }, part)
    t.notMatch(formatDraft(edited).text, /canary|4711/)
  }
})

t.test('secrets in JSON that is typed into a field are hidden, also while it cannot be read', async t => {
  const group: Json = { type: 'object', properties: { group: { properties: { password: { writeOnly: true } } } } }
  const typed = (text: string, value?: Value): Draft =>
    withValue(
      newDraft(group),
      new Map([['group', new Typed(text, value, value === undefined ? 'not JSON' : undefined)]])
    )
  const whole = typed('{"password":"canary", "a":1.50}', fromJson({ password: 'canary', a: 1.5 }))
  t.notMatch(whole.text, /canary/)
  t.same(sent(whole), { group: { password: 'canary', a: 1.5 } })
  t.same(sent(withText(whole, `${whole.text} `)), sent(whole))
  t.match(typed('{"a":1.50}', fromJson({ a: 1.5 })).text, '{"a":1.50}', 'without one it stays as it was typed')
  const broken = typed('{"password":"canary"')
  t.notMatch(broken.text, /canary/)
  t.match(readDraft(withText(broken, `${broken.text} `)), {
    value: undefined,
    errors: [{ at: '/group', message: 'not JSON' }]
  })
})

t.test('nothing is hidden where the schema calls nothing secret', async t => {
  t.same(JSON.parse(withValue(newDraft(true), fromJson(filled)).text), filled)
  t.equal(newDraft(schema, { password: '' }).masks.size, 0, 'or where there is nothing to hide')
  t.equal(newDraft({ properties: { list: { writeOnly: true } } }, { list: [] }).masks.size, 0)
})
