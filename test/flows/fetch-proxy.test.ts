/** The built program behind an HTTP proxy: its requests to external servers use the proxy, http and https. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { aCertificate, aForwardProxy } from '../support/forward-proxy.ts'
import { listening } from '../support/listening.ts'
import { startServer } from '../support/server.ts'

test('with AV_FETCH_PROXY the built server sends its webhooks through the proxy, with its password', async (t) => {
  const received: string[] = []
  const receive: RequestListener = async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    received.push(`${request.headers.host} ${JSON.parse(text).type}`)
    response.end('taken')
  }
  const { certPath, ...certificate } = await aCertificate(t, 'tide.invalid')
  const plain = await aForwardProxy(t, await listening(t, createServer(receive)))
  const secure = await aForwardProxy(t, await listening(t, createTlsServer(certificate, receive)))
  const deliver = async (proxy: string, url: string) => {
    const env = { AV_FETCH_PROXY: proxy.replace('//', '//tide:p%40ss@'), NODE_EXTRA_CA_CERTS: certPath }
    const server = await startServer(t, await temporaryFolder(t), env)
    const { body } = await server.api('POST', '/api/webhook/', { name: 'Barn', url, events: ['video.added'] })
    const delivery = await server.api('POST', `/api/webhook/${body.id}/test/`)
    assert.equal(await server.end('SIGTERM'), 0)
    return [delivery.body.state, delivery.body.status, delivery.body.answer, delivery.body.error]
  }

  assert.deepEqual(await deliver(plain.url, 'http://tide.invalid/hook'), ['delivered', 200, 'taken', ''])
  assert.deepEqual(await deliver(secure.url, 'https://tide.invalid/hook'), ['delivered', 200, 'taken', ''])

  assert.deepEqual([plain.asked, secure.asked], [['POST http://tide.invalid/hook'], ['CONNECT tide.invalid:443']])
  assert.deepEqual(received, ['tide.invalid webhook.test', 'tide.invalid webhook.test'])
  for (const { 'proxy-authorization': sent } of [...plain.headers, ...secure.headers])
    assert.equal(sent, `Basic ${Buffer.from('tide:p@ss').toString('base64')}`)
})
