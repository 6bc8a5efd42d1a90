/** Security events: one line each, in one form, with the actor, the subject and the address, and without any secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../core/log.ts'
import { PASSWORD, testApp } from '../support/testing.ts'

test('sign-ins, refusals, changes of rights and new tokens are logged without a secret', async (t) => {
  const lines: string[] = []
  const log = openLog('info', { write: (line) => void lines.push(line) })
  const app = await testApp(t, { log })
  const [admin, nobody] = [app.as('admin'), app.as('nobody')]
  const { id } = app.app.accounts.list().find(({ username }) => username === 'user')!
  const events = () =>
    lines
      .splice(0)
      .map((line) => JSON.parse(line))
      .filter(({ security }) => security !== undefined)
      .map(({ level: _, time: _time, msg: _msg, ...facts }) => facts)
  await app.as('user').get('/api/ping/')
  events()
  const address = '127.0.0.1'

  const { body } = await nobody.post('/api/login/', { username: 'user', password: PASSWORD })
  await nobody.post('/api/login/', { username: 'user', password: 'a wrong secret' })
  assert.deepEqual(events(), [
    { security: 'sign_in', address, by: 0, account: id },
    { security: 'sign_in_refused', address, by: 0, account: id },
  ])

  await app.as('user').get('/api/user/2/')
  await app.as('user').post('/api/user/', { username: 'eve', password: 'a secret of eve' })
  assert.deepEqual(
    events().map(({ security, code, account }) => [security, code, account]),
    [['request_refused', 'permission_denied', id]],
  )

  await admin.post(`/api/user/${id}/`, { is_staff: true })
  const rights = { is_staff: true, is_active: true, may_download: true, has_view: false }
  assert.deepEqual(events(), [{ security: 'role_changed', address, by: 1, account: id, ...rights }])

  const made = await admin.post('/api/access-token/', { name: 'a', scope: 'read' })
  await admin.delete(`/api/access-token/${made.body.id}/`)
  await admin.delete('/api/token/')
  assert.deepEqual(
    events().map(({ security, account, by }) => [security, account, by]),
    [
      ['token_made', 1, 1],
      ['token_revoked', 1, 1],
      ['token_revoked', 1, 1],
    ],
  )
  for (const secret of [PASSWORD, 'a wrong secret', body.token, made.body.token])
    assert.ok(!lines.some((line) => line.includes(secret)))
})

test('repeated refusals do not fill the log', async (t) => {
  const lines: string[] = []
  const log = openLog('info', { write: (line) => void lines.push(line) })
  const app = await testApp(t, { log })

  for (let times = 0; times < 50; times++)
    await app.as('nobody').get('/api/ping/', { authorization: `Token ${'0'.repeat(40)}` })

  assert.equal(lines.filter((line) => line.includes('request_refused')).length, 20)
})
