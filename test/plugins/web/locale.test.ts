/**
 * Numbers and dates in the locale of the browser, and texts that do not change the direction of the text around them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {} from '../../../plugins/download/queue.ts'
import { languageFor } from '../../../plugins/web/document.ts'
import { apart, calm } from '../../../plugins/web/page/texts/direction.ts'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const EXPECTED = {
  'de-DE': {
    size: '1,5 GB',
    day: '10.01.2026',
    moment: '10.01.2026, 12:00',
    subscribers: '48.200 Abonnenten',
    files: 'Datei und Spuren',
    tall: '1.280 × 720',
  },
  'en-US': {
    size: '1.5 GB',
    day: 'Jan 10, 2026',
    moment: 'Jan 10, 2026, 12:00 PM',
    subscribers: '48,200 subscribers',
    files: 'File and streams',
    tall: '1,280 × 720',
  },
  'fr-FR': {
    size: '1,5 Go',
    day: '10 janv. 2026',
    moment: '10 janv. 2026, 12:00',
    subscribers: '48 200 subscribers',
    files: 'File and streams',
    tall: '1 280 × 720',
  },
} as const

describe('the browser’s locale', { skip: noBrowser }, () => {
  for (const [locale, said] of Object.entries(EXPECTED)) {
    test(`numbers, dates and times are those of ${locale}`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_subs: 48_200 }),
        aVideo({
          id: 'v1',
          media_size: 1_500_000_000,
          streams: [{ type: 'video', index: 0, codec: 'h264', bitrate: 900_000, width: 1280, height: 720 }],
        }),
      )
      const { page, go } = await openPage(t, app.url, { as, options: { locale } })
      await page.route('**/media/**', (route) => route.abort())
      await go('/video/v1/')
      await page.getByText(said.files).click()
      const plain = (text: string) => text.replace(/\s/g, ' ')
      const facts = (await page.locator('.files dd').allInnerTexts()).map(plain)
      for (const one of [said.day, said.moment, said.tall, said.size])
        assert.ok(
          facts.some((fact) => fact.includes(plain(one))),
          `${one} in ${facts.join(' | ')}`,
        )
      assert.equal(plain(await page.locator('.watch-channel .meta').innerText()), plain(said.subscribers))
    })
  }
})

test('the language is the one chosen here, otherwise the first available one of the browser', () => {
  const built = { languages: { en: {}, de: {} } } as never
  const cases: Array<[accepted: string, cookies: string, language: string]> = [
    ['', '', 'en'],
    ['de-CH, en;q=0.5', '', 'de'],
    ['fr, en;q=0.5, de;q=0.8', '', 'de'],
    ['de;q=0, en', '', 'en'],
    ['fr', '', 'en'],
    ['de', 'a=b; av_language=en', 'en'],
    ['en', 'av_language=xx', 'en'],
    ['de', 'av_language=../../etc', 'de'],
    [`${'x,'.repeat(10_000)}de`, '', 'en'],
  ]
  for (const [accepted, cookies, language] of cases)
    assert.equal(languageFor(built, { accepted, cookies }), language, `${accepted.slice(0, 40)} | ${cookies}`)
})

test('a German browser gets German, and a choice of English is kept', {
  skip: noBrowser,
}, async (t) => {
  const app = await testApp(t)
  const { page, go, check } = await openPage(t, app.url, { size: 'phone', options: { locale: 'de-DE' } })
  await go('/')
  await page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'de')
  await check([/401/])
  await page.getByLabel('Sprache').selectOption('en')
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Account: admin' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Account: admin' }).waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
})

describe('direction marks', () => {
  const [LRM, RLM, LRE, RLO, PDF, RLI, PDI] = ['\u200e', '\u200f', '\u202a', '\u202e', '\u202c', '\u2067', '\u2069']

  test('are removed if unpaired, or if they override the direction of letters', () => {
    const cases: Array<[given: string, calmed: string]> = [
      ['plain', 'plain'],
      [`a ${RLO}evil`, 'a evil'],
      [`a ${RLO}evil${PDF} b`, 'a evil b'],
      [`a ${RLI}evil`, 'a evil'],
      [`a${PDI} b${PDF}`, 'a b'],
      [`a ${RLI}good${PDI} b`, `a ${RLI}good${PDI} b`],
      [`${LRE}good${PDF} b`, `${LRE}good${PDF} b`],
      [`a ${RLI}x ${RLO}y${PDI} b`, `a ${RLI}x y${PDI} b`],
      [`a ${RLI}x${PDF}y${PDI}`, `a ${RLI}xy${PDI}`],
      [`${RLM}a${LRM}`, 'a'],
      [`C++${LRM} مرحبا`, `C++${LRM} مرحبا`],
    ]
    for (const [given, calmed] of cases) assert.equal(calm(given), calmed, JSON.stringify(given))
    assert.equal(apart('plain'), 'plain')
    assert.equal(apart('مرحبا'), '\u2068مرحبا\u2069')
  })

  test('change neither the title of the document, nor the text beside a name', { skip: noBrowser }, async (t) => {
    const app = await testApp(t)
    const evil = (text: string) => `${RLI}${RLO}${text}`
    await app.given(
      aChannel({ id: 'UC1', channel_name: evil('Old Mill') }),
      aVideo({ id: 'v1', title: evil('gnp.exe'), description: evil('about') }),
      aPlaylist({ id: 'PL1', playlist_name: evil('List'), playlist_channel: evil('Owner'), entries: ['v1'] }),
    )
    await app.app.queue.add(
      [
        {
          id: 'waiting1111',
          title: evil('Waiting'),
          channelId: 'UC1',
          channelName: evil('Old Mill'),
          durationSeconds: 500,
          published: '2026-01-02',
          vidType: 'videos',
        },
      ],
      'pending',
    )
    await app.app.jobs.notify({ title: evil('Told'), group: 'download:add', level: 'error', messages: [evil('why')] })
    const { page, go } = await openPage(t, app.url, { as })
    await page.route('**/media/**', (route) => route.abort())
    const marks = /[\u202a-\u202e\u2066-\u2069]/
    for (const [address, words] of [
      ['/', 'gnp.exe'],
      ['/video/v1/', 'gnp.exe'],
      ['/channels/', 'Old Mill'],
      ['/channel/UC1/', 'Old Mill'],
      ['/playlists/', 'List'],
      ['/playlist/PL1/', 'List'],
      ['/downloads/', 'Waiting'],
    ] as const) {
      await go(address)
      await page.locator('#content').getByText(words, { exact: true }).first().waitFor()
      assert.doesNotMatch(await page.locator('body').innerText(), marks, address)
      assert.doesNotMatch(await page.title(), marks, address)
    }
    assert.equal(await page.locator('#content').getByText('Waiting', { exact: true }).first().isVisible(), true)
    await page.getByRole('button', { name: /^Activity/ }).click()
    await page.getByText('Told', { exact: true }).waitFor()
    await page.getByRole('dialog', { name: 'Activity' }).getByText('why', { exact: true }).waitFor()
  })
})
