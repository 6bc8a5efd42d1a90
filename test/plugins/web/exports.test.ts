/** Subscriptions from another app: its file is previewed, selected from, and subscribed to from today on. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CHANNEL, PLAYLIST } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { noBrowser, openPage, PATIENCE } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { allQuiet, PASSWORD, type Server, startServer, USERNAME, until } from '../../support/server.ts'
import '../../support/long.ts'

const { harbour, orbit } = CHANNEL
const row = (id: string, name: string) => `${id},http://www.youtube.com/channel/${id},${name}`

describe('subscriptions from another app', { skip: noBrowser }, () => {
  let server: Server
  const scope = lastFirst({ after })

  before(async () => {
    const { env } = await startTestPlatform(scope)
    server = await startServer(scope, await temporaryFolder(scope), env)
  })

  const openAt = async (t: Parameters<typeof openPage>[0], size: 'phone' | 'desktop') => {
    const opened = await openPage(t, server.baseUrl, { size, as: { username: USERNAME, password: PASSWORD } })
    await opened.go('/settings/subscriptions/')
    const group = opened.page.locator('.settings-group', { hasText: 'Subscriptions from another app' })
    const choose = (name: string, content: string) =>
      group.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
    return { ...opened, group, choose }
  }

  test('a file is previewed first, also on a phone, and unusable files are reported', async (t) => {
    const { group, choose, check, shot } = await openAt(t, 'phone')

    await choose('history.json', '[{"a":1}]')
    await group
      .getByRole('alert')
      .getByText('This file or text can’t be used. It contains no subscriptions, watched videos or playlists.')
      .waitFor()
    await choose('Abos.csv', [harbour, orbit].map((id) => row(id, `Channel ${id}`)).join('\n'))
    await group.getByText('2 subscriptions are new.').waitFor()

    await check([/422/])
    await shot('exports')
    assert.equal((await server.api('GET', '/api/channel/')).body.paginate.total_hits, 0)
  })

  test('selected channels of a file and of a pasted text are subscribed to, and by default no existing videos are downloaded', async (t) => {
    const { page, group, choose, check, shot } = await openAt(t, 'desktop')
    const subscribedTo = async (kind: 'channel' | 'playlist') =>
      (await server.api('GET', `/api/${kind}/`)).body.data
        .filter((one: any) => one[`${kind}_subscribed`])
        .map((one: any) => one[`${kind}_id`])

    await choose('Abos.csv', ['Kanal-ID,Kanal-URL,Kanaltitel', row(harbour, 'Harbour'), row(orbit, 'Orbit')].join('\n'))
    await group.getByText('2 subscriptions are new.').waitFor()
    assert.ok(await group.getByLabel('Nothing, only new videos from now on').isChecked())
    await group.getByLabel('Orbit').uncheck()
    await group.getByRole('button', { name: 'Subscribe to one' }).click()
    await page.getByText('Subscribed. New videos will be added automatically.').waitFor(PATIENCE)
    assert.deepEqual(await subscribedTo('channel'), [harbour])

    const pasted = [harbour, PLAYLIST.coast, 'https://example.org/x'].join('\n')
    await group.getByLabel('Links or the text of the file').fill(pasted)
    await group.getByRole('button', { name: 'Preview' }).click()
    await group.getByText('One subscription is new. You have one already. Skipped because').waitFor()
    await check()
    await shot('exports-pasted')
    await group.getByRole('button', { name: 'Subscribe to one' }).click()
    await until(
      'the playlist is followed',
      () => subscribedTo('playlist'),
      (all) => all.length > 0,
    )
    assert.deepEqual(await subscribedTo('playlist'), [PLAYLIST.coast])
    await allQuiet(server)
    assert.equal((await server.api('GET', '/api/download/')).body.paginate.total_hits, 0)
  })
})
