import t from 'tap'
import { resultToJson } from '../../../protocol/wire/result.js'

t.test('a result of one text is the JSON that any encoder makes of it', async t => {
  const content = [{ type: 'text', text: 'a "quoted" text\n\ud800' }]
  for (const result of [
    { content },
    { content, isError: true },
    { content, isError: false, resultType: 'complete' },
    { content, resultType: 'complete' },
    { content, resultType: 'input_required' },
    { content, resultType: 'complete', more: 1 },
    { content: [{ ...content[0], more: 1 }], resultType: 'complete' }
  ]) {
    t.equal(resultToJson(result), JSON.stringify(result))
  }
})
