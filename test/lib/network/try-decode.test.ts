import t from 'tap'
import { tryDecode } from '../../../lib/network/try-decode.js'

t.test('decodes what is encoded, and nothing that is not valid', async t => {
  t.strictSame(['a%20b', '%C3%A4', 'plain', '', '%', '%zz', '%ff'].map(tryDecode), ['a b', 'ä', 'plain', '', undefined, undefined, undefined])
})
