/**
 * A story of an archive that cleans up by itself, with the real server and yt-dlp: a subscription that skips shorts, a
 * rule that is previewed, run and undone, and a channel that is deleted and restored with the positions of all
 * accounts.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addLargeChannel } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { noBrowser, openPage, PATIENCE } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { allQuiet, PASSWORD, startServer, USERNAME, until } from '../../support/server.ts'
import '../../support/long.ts'

const AS = { username: USERNAME, password: PASSWORD }
const VIDEOS = ['harbour0001', 'harbour0002', 'fogSignal01']

describe('an archive that cleans up by itself', { skip: noBrowser }, () => {
  for (const size of ['desktop', 'phone'] as const)
    test(size, async (t) => {
      const scope = lastFirst(t)
      const { platform, env } = await startTestPlatform(scope)
      const channelId = addLargeChannel(platform.catalogue, { videos: 0, key: 'story', hasPictures: false })
      const publish = (id: string, tab: string, title: string) =>
        platform.catalogue.put('videos', id, {
          ...{ channelId, tab, clip: 'wide-3s' },
          info: { title, timestamp: 1_760_000_000, availability: 'public' },
        })
      for (const id of VIDEOS) publish(id, 'videos', id.startsWith('fog') ? 'Fog signals' : `Harbour ${id.slice(-1)}`)
      publish('shortFilm01', 'shorts', 'A short')
      const server = await startServer(scope, await temporaryFolder(scope), env)
      await server.api('POST', '/api/config/', { downloads: { sleep_interval: 0 } })
      const archived = async () =>
        (await server.api('GET', '/api/video/')).body.data.map((one: { platform_id: string }) => one.platform_id).sort()
      const { page, go, check, shot } = await openPage(t, server.baseUrl, { size, as: AS })
      const name = 'Daily log story'

      await go('/channels/')
      await page.getByRole('button', { name: 'Subscribe', exact: true }).first().click()
      const subscribing = page.getByRole('dialog', { name: 'Subscribe' })
      await subscribing.getByLabel('Channels or playlists').fill(`${platform.baseUrl}/channel/${channelId}`)
      await subscribing.getByText('Skip some, or keep only some').click()
      await subscribing.getByLabel('Skip shorts').check()
      await subscribing.getByLabel('Skip titles with').fill('trailer')
      await check([/404/])
      await shot('story-subscribe')
      await subscribing.getByRole('button', { name: 'Subscribe' }).click()
      await until('its videos have come', archived, (ids) => ids.length === VIDEOS.length, PATIENCE.timeout)
      await allQuiet(server)
      assert.deepEqual(await archived(), VIDEOS.toSorted(), 'and no short')

      await go(`/channel/${channelId}/`)
      await page.getByText('Skip: Shorts').waitFor()
      await page.getByText('Skip: title contains “trailer”').waitFor()
      await shot('story-channel')
      await check()

      await go('/settings/rules/')
      await page.getByRole('button', { name: 'Add a rule: What stays' }).click()
      const dialog = page.getByRole('dialog', { name: 'New rule' })
      await dialog.getByLabel('Add a condition').selectOption({ label: 'Title contains' })
      await dialog.getByLabel('Title contains', { exact: true }).fill('fog')
      await dialog.getByText(/With this rule: 1 video would be removed/).waitFor()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('button', { name: 'Show preview' }).click()
      await page.getByRole('link', { name: 'Fog signals' }).waitFor()
      await page.getByText(/^Frees .* once they are deleted for good/).waitFor()
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByText(/Done · 1 done/).waitFor()
      assert.deepEqual(await archived(), VIDEOS.slice(0, 2))
      await page.getByRole('button', { name: /^Undo: / }).click()
      await page.getByText(/Undone · 1 restored/).waitFor()
      assert.deepEqual(await archived(), VIDEOS.toSorted())

      await server.api('POST', `/api/video/${VIDEOS[0]}/progress/`, { position: 1 })
      await server.api('POST', '/api/watched/', { id: VIDEOS[1], is_watched: true })
      const { body: list } = await server.api('POST', '/api/playlist/custom/', { playlist_name: 'Later' })
      const entriesOf = async () =>
        (await server.api('GET', `/api/playlist/${list.playlist_id}/`)).body.playlist_entries.map(
          (one: { platform_id: string }) => one.platform_id,
        )
      for (const id of VIDEOS)
        await server.api('POST', `/api/playlist/custom/${list.playlist_id}/`, { action: 'create', video_id: id })
      const places = async () => ({
        position: (await server.api('GET', `/api/video/${VIDEOS[0]}/progress/`)).body.position,
        watched: (await server.api('GET', `/api/video/${VIDEOS[1]}/`)).body.player?.watched,
        entries: await entriesOf(),
        isSubscribed: (await server.api('GET', `/api/channel/${channelId}/`)).body.channel_subscribed,
      })
      const before = await places()
      assert.deepEqual([before.position, before.watched, before.isSubscribed], [1, true, true])

      await go(`/channel/${channelId}/`)
      await page.getByRole('button', { name: `More for ${name}` }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      const deleting = page.getByRole('dialog', { name: 'Delete this channel?' })
      await deleting.getByLabel(`Type “${name}” to confirm`).fill(name)
      await deleting.getByRole('button', { name: 'Delete' }).click()
      await page.getByText(`${name} deleted`).waitFor()
      assert.deepEqual(await archived(), [])
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Restored').first().waitFor()
      await allQuiet(server)
      assert.deepEqual(await archived(), VIDEOS.toSorted())
      assert.deepEqual(await places(), before)
      await go(`/channel/${channelId}/`)
      await page.getByText('Skip: Shorts').waitFor()
    })
})
