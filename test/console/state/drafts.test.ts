import t from 'tap'
import { draftOf, fieldsOf, forgetDrafts, setDraft } from '../../../console/state/drafts.js'

t.test('what was typed stays for its thing, until another caller comes', async t => {
  setDraft('tool', 'a', {}, { x: 1 })
  fieldsOf('prompt', 'a').value = new Map([['who', 'Ada']])
  t.match(draftOf('tool', 'a', {}).value.text, /"x": 1/)
  t.equal(fieldsOf('prompt', 'a').value.get('who'), 'Ada')
  t.equal(fieldsOf('template', 'a').value.size, 0)
  forgetDrafts()
  t.notMatch(draftOf('tool', 'a', {}).value.text, /"x"/)
  t.equal(fieldsOf('prompt', 'a').value.size, 0)
})
