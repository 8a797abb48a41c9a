import t from 'tap'
import { loggedGateway } from '../sign-in/place.js'
import { Speaker } from '../../support/speaker.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { apiServer, documentOf, fileOf, inFrontOfApi, sendJson } from './api.js'

t.test('nothing is fetched for references into other documents, and each is warned of', async t => {
  const other = await apiServer(t)
  const api = await apiServer(t)
  const away = (name: string): object => ({ $ref: `${other.url}/${name}.json#/x` })
  const json = (schema: object): object => ({ content: { 'application/json': { schema } } })
  const paths = {
    '/item': away('item'),
    '/file': { $ref: './paths.yaml#/file' },
    '/list': [],
    '/parameter': { get: { operationId: 'parameter', parameters: [away('parameter')] } },
    '/body': { post: { operationId: 'body', requestBody: away('body') } },
    '/schema': { get: { operationId: 'schema', parameters: [{ name: 'it', in: 'query', schema: away('schema') }] } },
    '/member': { post: { operationId: 'member', requestBody: json({ type: 'object', properties: { it: away('member') } }) } },
    '/answer': { get: { operationId: 'answer', responses: { 200: away('response') } } },
    '/answers': { get: { operationId: 'answers', responses: { 200: json(away('answers')) } } }
  }
  const { app, call } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf(paths)), url: api.url, operations: { methods: ['get', 'post'], outputSchema: true }
  })
  t.strictSame(app.mcp.tools.names().sort(), ['answer', 'answers', 'member', 'schema'].map(name => `api__${name}`))
  const nowhere = 'leads nowhere in its document, and is not followed'
  t.strictSame(app.mcp.upstreams.status()[0]?.warnings, [
    `path "/item" is left out: its reference "${other.url}/item.json#/x" ${nowhere}`,
    `path "/file" is left out: its reference "./paths.yaml#/file" ${nowhere}`,
    'path "/list" is left out: it is not described by an object',
    `operation "GET /parameter" is left out: a parameter is a reference that leads nowhere ("${other.url}/parameter.json#/x")`,
    `operation "POST /body" is left out: its requestBody is a reference that leads nowhere ("${other.url}/body.json#/x")`,
    `the reference "${other.url}/schema.json#/x" ${nowhere}`,
    `the reference "${other.url}/member.json#/x" ${nowhere}`,
    `the reference "${other.url}/response.json#/x" ${nowhere}`,
    `the reference "${other.url}/answers.json#/x" ${nowhere}`
  ])
  t.match(await call('schema', { it: 1 }), { structuredContent: {} })
  t.match(await call('answer'), { structuredContent: {} })
  t.equal(other.received.length, 0)
  t.equal(api.received.length, 2)
})

const TOKEN = '123456789:AAF-path-secret-of-the-bot'

t.test('a secret in the path of the API is in no result, no error and no line of the log', async t => {
  const api = await apiServer(t, ({ url }, response) => {
    if (url.endsWith('/file')) response.writeHead(200, { 'content-type': 'application/zip' }).end(Buffer.from([0, 255]))
    else if (url.endsWith('/moved')) response.writeHead(302, { location: `/bot${TOKEN}/other/file` }).end()
    else if (url.endsWith('/json')) sendJson(response, 'not an object')
    else sendJson(response, { error: `there is no ${url}` }, 404)
  })
  const answer = { 200: { content: { 'application/json': { schema: { type: 'object', required: ['a'] } } } } }
  const paths = Object.fromEntries(['file', 'moved', 'json', 'none'].map(name => [`/${name}`, { get: { operationId: name, responses: answer } }]))
  const entry = { openapi: fileOf(t, documentOf(paths)), url: `${api.url}/bot${TOKEN}`, operations: { outputSchema: true } }
  const { app, log } = await loggedGateway(t, { ephemeral: true, mcpServers: { api: entry } })
  await upstreamsReady(app, ['api'])
  const client = new Speaker(app)
  const call = async (name: string): Promise<unknown> => (await client.tool(`api__${name}`)).result
  t.match(await call('file'), { content: [{ resource: { uri: 'api:/file' } }] })
  t.match(await call('moved'), { content: [{ resource: { uri: 'api:/other/file' } }] })
  t.match(await call('none'), { isError: true, content: [{ text: /there is no \/\*\*\*\/none/ }] })
  const results = JSON.stringify([await call('file'), await call('moved'), await call('json'), await call('none')])
  t.match(log.join(''), /an answer to GET \/json does not fit/)
  for (const text of [results, log.join(''), JSON.stringify(app.mcp.upstreams.status())]) t.notOk(text.includes('AAF-path-secret'), text)
})
