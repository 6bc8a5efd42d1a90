/** Sentences of the server are shown in the language of the page. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { say } from '../../../core/base/say.ts'
import { noBrowser, openPage } from '../../support/browser.ts'
import { languagesBesideEnglish } from '../../support/languages.ts'
import { readSentences } from '../../support/sentences.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const as = { username: 'admin', password: PASSWORD }
const german = { as, options: { locale: 'de-DE' } }
const PREFIX = 'server.'

test('each language has texts for each sentence of the server, with its values, and for no others', async () => {
  const sentences = readSentences()
  const languages = await languagesBesideEnglish()
  const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()
  const faults = [...languages].flatMap(([language, texts]) => {
    const missing = [...sentences].filter(([sentence]) => !Object.hasOwn(texts, PREFIX + sentence))
    const ofServer = Object.keys(texts).filter((key) => key.startsWith(PREFIX))
    const old = ofServer.filter((key) => !sentences.has(key.slice(PREFIX.length)))
    const wrong = ofServer.filter((key) => {
      const entry = texts[key]!
      const known = namesIn(key)
      return namesIn(typeof entry === 'string' ? entry : entry['other']!).some((name) => !known.includes(name))
    })
    return missing.length + old.length + wrong.length > 0 ? [{ language, missing, old, wrong }] : []
  })

  assert.ok(sentences.size > 300 && languages.has('de'))
  assert.deepEqual(faults, [])
})

describe('in German', { skip: noBrowser }, () => {
  test('a refusal is in German, with its values', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }))
    const { page, go } = await openPage(t, app.url, german)
    await go('/settings/schedules/')
    await page
      .getByRole('button', { name: /^Zeitplan ändern/ })
      .first()
      .click()
    const field = page.getByLabel('Cron').first()
    await page.getByText('Erweitert').first().click()

    await field.fill('0 99 *')
    await field.press('Enter')

    const alert = page.getByRole('alert').first()
    await alert.waitFor()
    assert.match(await alert.innerText(), /^Das Feld hour eines Zeitplans ist \*.* von 0 bis 23$/)
  })

  test('running tasks, their results, and the reason for a pause are in German', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
    await app.as('admin').post('/api/backup/')
    await app.settled()
    const [{ filename }] = (await app.as('admin').get('/api/backup/')).body
    await app.as('admin').post(`/api/backup/${filename}/`)
    await app.settled()
    const rescan = app.app.registry.tasks.get('rescan_filesystem')!
    await app.app.jobs.notify({ of: rescan, level: 'info', messages: [say`Found ${{ count: 1200 }} files`] })
    const { page, go, check } = await openPage(t, app.url, german)

    await go('/')
    await page.getByRole('button', { name: /^Aktivität/ }).click()
    const told = page.getByRole('dialog').getByRole('listitem').filter({ hasText: '1.200 Dateien gefunden' })
    assert.equal(await told.getByRole('strong').innerText(), 'Dateien neu einlesen')
    await check()

    await go('/settings/tasks/')
    await page.getByText(/zip wiederhergestellt: \d+ Dokumente, 0 übersprungen/).waitFor()

    await rm(app.app.settings.mediaDir, { recursive: true, force: true })
    await go('/downloads/')
    await page
      .getByText(/^Die Bibliothek ist nicht zu finden: der Medienordner ist nicht da\. .* Schließe seine Festplatte an/)
      .waitFor()
    await go('/welcome/')
    await page.getByText(/Die Bibliothek ist nicht zu finden: der Medienordner ist nicht da\./).waitFor()
  })

  test('the reasons why a subscription, a restore or another download has failed are in German', async (t) => {
    const app = await testApp(t)
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Hafen', channel_subscribed: false }),
      aVideo({ id: 'v1', channelId: 'UC1', title: 'Ebbe' }),
      aVideo({ id: 'v2', channelId: 'UC1', title: 'Flut' }),
    )
    await app.as('admin').delete('/api/video/v2/')
    const { page, go } = await openPage(t, app.url, german)
    const said = { 'Found 1200 files': { key: 'Found {count} files', params: { count: 1200 } } }
    await page.route(/\/api\/channel\/$/, (route) => route.fulfill({ json: { task_id: 'gone' } }))
    await page.route(/\/api\/task-id\/gone\/$/, (route) =>
      route.fulfill({ json: { task_id: 'gone', status: 'FAILURE', result: 'Found 1200 files', said } }),
    )
    const refused = [{ id: 1, title: 'Flut', reason: 'It is in the archive again: remove it there first' }]
    await page.route(/\/api\/bin\/restore\/$/, (route) => route.fulfill({ json: { restored: 0, refused } }))
    const reason = { key: 'Found {count} files', params: { count: 1200 } }
    await page.route(/\/api\/download\/(v1\/)?(\?.*)?$/, (route) =>
      route.fulfill({
        json:
          route.request().method() === 'GET'
            ? { data: { platform_id: 'v1', status: 'pending', message: 'Found 1200 files', reason } }
            : { task_id: null },
      }),
    )

    await go('/channel/UC1/')
    await page.getByRole('button', { name: 'Abonnieren', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Abonnieren', exact: true }).click()
    await page.getByText('1.200 Dateien gefunden').waitFor()

    await go('/settings/bin/')
    await page.getByRole('button', { name: '„Flut“ wiederherstellen' }).click()
    await page.getByText(/^Flut: /).waitFor()
    assert.equal(await page.getByText('It is in the archive again').count(), 0)

    await go('/video/v1/')
    await page.getByRole('button', { name: 'Neu herunterladen' }).click()
    await page.getByText('1.200 Dateien gefunden').waitFor()
  })
})
