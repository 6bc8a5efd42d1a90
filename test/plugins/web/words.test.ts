/**
 * Texts from the platform and from users: they have the direction of their script, and long ones can be read
 * completely.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }

describe('texts from the platform and from users', { skip: noBrowser }, () => {
  test('right-to-left titles, names and descriptions begin at the right', async (t) => {
    const app = await testApp(t)
    const [film, channel, list, waiting, about] = [
      'كيف نبني قاربا خشبيا',
      'الميناء',
      'أمسيات',
      'مرحبا بالعالم',
      'وصف القناة',
    ]
    await app.given(
      aChannel({ id: 'UC1', channel_name: channel, channel_description: about }),
      aVideo({ id: 'v1', title: film, description: about }),
      aPlaylist({ id: 'PL1', playlist_name: list, playlist_description: about, entries: ['v1'] }),
    )
    await app.app.queue.add(
      [
        {
          id: 'waiting1111',
          title: waiting,
          channelId: 'UC1',
          channelName: channel,
          durationSeconds: 500,
          published: '2026-01-02',
          vidType: 'videos',
        },
      ],
      'pending',
    )
    const { page, go } = await openPage(t, app.url, { as })
    const seen: Array<[address: string, words: string[]]> = [
      ['/?type=videos', [film, channel]],
      ['/video/v1/', [film, channel, about]],
      ['/channels/', [channel]],
      ['/channel/UC1/', [channel, about]],
      ['/playlist/PL1/', [list, about]],
      ['/downloads/', [waiting]],
    ]

    for (const [address, words] of seen) {
      await go(address)
      for (const one of words) {
        const text = page.locator('#content').getByText(one, { exact: true }).first()
        await text.waitFor()
        assert.equal(await text.evaluate((element) => getComputedStyle(element).direction), 'rtl', `${address}: ${one}`)
      }
    }
  })

  test('a long description of a playlist can be read completely', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1' }),
      aVideo({ id: 'v1' }),
      aPlaylist({ id: 'PL1', playlist_description: `${'All about bread. '.repeat(60)}\nThe end`, entries: ['v1'] }),
    )
    const { page, go, check } = await openPage(t, app.url, { as })
    await go('/playlist/PL1/')
    const text = page.getByText('All about bread.')
    const isWhole = () =>
      text.evaluate((element) => element.parentElement!.scrollHeight <= element.parentElement!.clientHeight + 2)
    await text.waitFor()
    assert.equal(await isWhole(), false)

    await page.getByRole('button', { name: 'More: ' }).click()

    await page.getByRole('button', { name: 'Less: ' }).waitFor()
    assert.equal(await isWhole(), true)
    await check()
  })
})
