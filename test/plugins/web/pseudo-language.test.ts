/** The page in a pseudo-language: other words are missing in the texts, and words that do not fit need more space. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { say } from '../../../core/base/say.ts'
import de from '../../../plugins/web/page/texts/languages/de.json' with { type: 'json' }
import en from '../../../plugins/web/page/texts/languages/en.json' with { type: 'json' }
import { noBrowser, openPage, type Page } from '../../support/browser.ts'
import { languagesBesideEnglish } from '../../support/languages.ts'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { SECTIONS } from './sections.ts'
import '../../support/long.ts'

type Entry = string | Record<string, string>

const as = { username: 'admin', password: PASSWORD }
const VIEWS = [
  '/',
  '/?type=videos',
  '/video/v1/',
  '/channels/',
  '/channel/UC1/',
  '/channel/UC1/?show=settings',
  '/playlists/',
  '/playlist/PL1/',
  '/downloads/',
  '/search/?q=фильм',
  '/statistics/',
  '/welcome/',
  ...SECTIONS.map((section) => `/settings/${section}/`),
]
const SIGNS: Record<string, string> = Object.fromEntries(
  [...'abcdefghijklmnopqrstuvwxyz'].map((letter, at) => [letter, [...'áƀçðéƒĝĥíĵķļɱñóþɋŕšţúṽŵẋýž'][at]!]),
)
const VOWELS = /[aeiou]/g

/** Replaces every letter, and makes the text longer. Values in braces stay. */
const pseudo = (text: string): string =>
  text.replace(/(\{\w+\})|[A-Za-z]+/g, (word, value?: string) =>
    value
      ? value
      : word
          .replace(VOWELS, '$&$&')
          .replace(/[a-z]/g, (letter) => SIGNS[letter]!)
          .replace(/[A-Z]/g, (letter) => SIGNS[letter.toLowerCase()]!.toUpperCase()),
  )
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other']
const toPseudo = (entry: Entry): Entry =>
  typeof entry === 'string' ? pseudo(entry) : Object.fromEntries(FORMS.map((form) => [form, pseudo(entry['other']!)]))

/** The German texts include those for sentences that the server sends in English. */
const TEXTS = Object.fromEntries(
  Object.entries({ ...de, ...en } as Record<string, Entry>).map(([key, entry]) => [key, toPseudo(entry)]),
)

/** Replaces the texts; numbers and dates are those of a language without Latin letters. */
async function speakPseudo(page: Page, baseUrl: string): Promise<void> {
  await page.context().addCookies([{ name: 'av_language', value: 'de', url: baseUrl }])
  await page.route('**/*', async (route) => {
    const url = new URL(route.request().url())
    if (url.pathname.endsWith('/pseudo-texts.js'))
      return route.fulfill({
        contentType: 'text/javascript',
        body: `export default ${JSON.stringify(TEXTS)}`,
      })
    if (route.request().resourceType() !== 'document') return route.fallback()
    const response = await route.fetch()
    const body = (await response.text())
      .replace('<html lang="de"', '<html lang="ru"')
      .replaceAll(/(name="archivolt-(?:first|more)-texts" content=")[^"]*/g, '$1/pseudo-texts.js')
    await route.fulfill({ response, body })
  })
}

/** Names, addresses and paths, which are the same in every language. */
const NAMES = new RegExp(
  String.raw`\b(${[
    ...['Archivolt', 'YouTube', 'yt-dlp', 'ffmpeg', 'deno', 'SponsorBlock', 'Apprise', 'Elasticsearch', 'SQLite'],
    ...['Jellyfin', 'Emby', 'Plex', 'Kodi'],
    ...['OpenID Connect', 'Netscape HTTP Cookie File', 'JSON', 'CSV', 'OPML', 'HTTPS?', 'HDR', 'PIN', 'API', 'URL'],
    ...[
      'KiB',
      'admin',
      'user',
      'Safari',
      'Linux',
      'archivolt-plugin-tide',
      String.raw`av_daily_\w+`,
      String.raw`av_backup-[\w-]+\.zip`,
    ],
  ].join('|')})\b|\w+://\S+|/[\w./-]+`,
  'g',
)

/** Visible texts, and those for screen readers. Runs in the page. */
function wordsOf(): string[] {
  const found: string[] = []
  for (const one of document.body.querySelectorAll('*')) {
    if (!one.checkVisibility({ visibilityProperty: true }) || one.closest('code, pre, kbd')) continue
    for (const node of one.childNodes) if (node instanceof Text) found.push(node.data.trim())
    for (const name of ['aria-label', 'title', 'placeholder']) found.push(one.getAttribute(name) ?? '')
  }
  return found
}

/** The page's own texts that are cut off; only texts from the platform and from users may be. Runs in the page. */
function cutOff(): string[] {
  const found: string[] = []
  if (document.documentElement.scrollWidth > innerWidth)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`)
  for (const one of document.querySelectorAll<HTMLElement>('#content *')) {
    const texts = [...one.childNodes].filter((node) => node instanceof Text)
    const words = texts.map(({ data }) => data.trim()).join('')
    if (!one.checkVisibility({ visibilityProperty: true }) || one.closest('.unseen')) continue
    if (one.getBoundingClientRect().width <= 1) continue // only for screen readers
    const range = document.createRange()
    // Measures the text, because a button may be higher than it, for example by an icon above the text.
    const heights = texts.map((node) => (range.selectNode(node), range.getBoundingClientRect().height))
    const lines = Math.max(0, ...heights) / Number.parseFloat(getComputedStyle(one).fontSize)
    if (words.length > 4 && lines > 5 && words.length / lines < 4)
      found.push(`“${words.slice(0, 60)}” has a letter or two a line`)
  }
  // In the bottom bar of a phone a long label may be cut off, because the icon has the same meaning.
  const within = 'button, .button, .chip, h1, h2, h3, label, th, [role=columnheader], [role=tab], legend, dt'
  for (const one of document.querySelectorAll<HTMLElement>(within)) {
    if (!one.checkVisibility({ visibilityProperty: true }) || one.closest('.unseen, [dir=auto]')) continue
    const { overflowX } = getComputedStyle(one)
    if (overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
      found.push(`“${one.textContent!.trim().slice(0, 60)}” has ${one.clientWidth} of ${one.scrollWidth} px`)
  }
  return found
}

describe('in a pseudo-language', { skip: noBrowser }, () => {
  for (const [width, height] of [
    [320, 700],
    [390, 844],
    [820, 1100],
  ] as const)
    test(`every text is translated and fits (${width} px)`, async (t) => {
      const app = await testApp(t)
      await app.given(
        aChannel({ id: 'UC1', channel_name: 'Гавань', channel_description: 'Лодки' }),
        ...['v1', 'v2', 'v3'].map((id) =>
          aVideo({ id, channelId: 'UC1', title: `Фильм ${id}`, description: 'Лодки', playlist: ['PL1'], tags: [] }),
        ),
        aPlaylist({
          id: 'PL1',
          playlist_name: 'Вечера',
          playlist_description: 'Лодки',
          playlist_channel: 'Гавань',
          entries: ['v1', 'v2', 'v3'].map((id) => ({ platform_id: id, title: 'Фильм' })),
        }),
      )
      await app.as('admin').post('/api/config/user/', { language: 'de' })
      await app.as('admin').post('/api/backup/')
      await app.settled()
      const rescan = app.app.registry.tasks.get('rescan_filesystem')!
      await app.app.jobs.notify({
        of: rescan,
        level: 'info',
        messages: [say`Found ${{ count: 12 }} files`],
        shownForSeconds: 3600,
      })
      const plugins = new Set(
        (await app.as('admin').get('/api/plugin/')).body.map(({ name }: { name: string }) => name),
      )
      const isForgotten = (text: string) =>
        (text.replace(NAMES, '').match(/[A-Za-z]{3,}/g) ?? []).some((word) => !plugins.has(word))
      const { page, go, shot } = await openPage(t, app.url, {
        as,
        options: { viewport: { width, height }, locale: 'ru-RU' },
      })
      await speakPseudo(page, app.url)
      /** The view in which each was found first. */
      const [forgotten, tight] = [new Map<string, string>(), new Map<string, string>()]

      const look = async (where: string) => {
        for (const text of (await page.evaluate(wordsOf)) as string[])
          if (isForgotten(text) && !forgotten.has(text)) forgotten.set(text, where)
        for (const text of (await page.evaluate(cutOff)) as string[]) if (!tight.has(text)) tight.set(text, where)
      }

      for (const address of VIEWS) {
        await go(address)
        await page.locator('#content').getByRole('heading').first().waitFor({ state: 'attached' })
        await page.locator('.box').first().waitFor({ state: 'detached' })
        assert.equal(await page.locator('html').getAttribute('lang'), 'ru')
        await look(address)
        await shot(`pseudo-${width}${address.replace(/\W+/g, '-')}`)
      }

      await page.locator('.pill').click()
      await page.locator('.activity li').first().waitFor()
      await look('activity')
      assert.deepEqual([[...forgotten], [...tight]], [[], []])
    })
})

test('each language has texts for each setting and task that the server has', async (t) => {
  const app = await testApp(t)
  const [sections, tasks] = await Promise.all(
    ['/api/config/schema/', '/api/task/'].map(async (path) => (await app.as('admin').get(path)).body),
  )
  const wanted: string[] = []
  const look = (name: string, schema: Record<string, any>) => {
    const said: Record<string, unknown> = {
      '': schema['title'],
      '.hint': schema['description'],
      '.unit': schema['x-unit'],
      '.wrong': schema['x-wrong'],
    }
    for (const value of Object.keys(schema['x-labels'] ?? {})) said[`.${value}`] = value
    for (const [part, text] of Object.entries(said)) if (text) wanted.push(name + part)
  }
  for (const [section, { properties }] of Object.entries<any>(sections))
    for (const [key, schema] of Object.entries<any>(properties))
      if (schema.title) look(`preference.${section}.${key}`, schema)
  for (const { name, schedule } of tasks) {
    wanted.push(`task.${name}`)
    for (const [key, schema] of Object.entries<any>(schedule?.config.properties ?? {}))
      look(`task.${name}.${key}`, schema)
  }
  assert.ok(Object.keys(sections).length > 4 && tasks.length > 10)
  for (const [language, texts] of await languagesBesideEnglish())
    assert.deepEqual(
      wanted.filter((key) => !texts[key]),
      [],
      language,
    )
})
