/** Titles by viewers on the page: the original with a switch, theirs with a switch, or only the original. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser, openPage } from '../../support/browser.ts'
import { aChannel, aFragment, aPlaylist, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import { startTitlesService } from '../../support/titles-service.ts'

const ORIGINAL = 'You WON’T believe this'
const THEIRS = 'Why the <b>quokka</b> smiles'
const OTHER = 'Show the other title'

for (const size of ['desktop', 'phone'] as const)
  test(`each account chooses which title it sees, and a switch shows the other (${size})`, {
    skip: noBrowser,
  }, async (t) => {
    const service = await startTitlesService(t)
    service.proposals.set('v1', { titles: [{ title: THEIRS, votes: 3 }] })
    const app = await testApp(t, { settings: { dearrowUrl: service.url } })
    await app.given(
      aChannel(),
      aVideo({ id: 'v1', title: ORIGINAL, playlist: ['PL1'], dearrow: { title: THEIRS, last_refresh: 1 } }),
      aPlaylist({ id: 'PL1', entries: [{ platform_id: 'v1', title: ORIGINAL, downloaded: true }] }),
      aFragment({ platform_id: 'v1', subtitle_line: 'a quiet morning' }),
      aVideo({ id: 'v2', title: 'Without another' }),
    )
    const { page, go, check, shot } = await openPage(t, app.url, {
      size,
      as: { username: 'admin', password: PASSWORD },
    })
    const cardOf = (title: string) => page.getByRole('article').filter({ hasText: title })
    const heading = (name: string) => page.getByRole('heading', { level: 1, name })

    await go('/')
    await cardOf(ORIGINAL).getByRole('link', { name: ORIGINAL }).waitFor()
    if (size === 'desktop') await cardOf(ORIGINAL).hover()
    await cardOf(ORIGINAL).getByRole('button', { name: OTHER }).click()
    await cardOf(THEIRS).getByRole('link', { name: THEIRS }).waitFor()
    await shot('titles-home')
    await check([/404/])
    await cardOf(THEIRS).getByRole('button', { name: OTHER }).click()
    await cardOf(ORIGINAL).waitFor()
    assert.equal(await cardOf('Without another').getByRole('button', { name: OTHER }).count(), 0)

    await go('/video/v1/')
    await heading(ORIGINAL).waitFor()
    await page.getByRole('button', { name: OTHER }).click()
    await heading(THEIRS).waitFor()
    assert.equal(await page.locator('h1 b').count(), 0, 'a text stays a text')
    await shot('titles-video')
    await check([/404/])

    await go('/settings/appearance/')
    await page.getByLabel('Language').waitFor()
    for (const label of ['Titles of videos', 'Sponsor']) assert.equal(await page.getByLabel(label).count(), 0, label)
    await shot('titles-off')
    await app.as('admin').post('/api/config/', { dearrow: { enabled: true } })
    await go('/settings/appearance/')
    await page.getByLabel('Titles of videos').selectOption({ label: 'By viewers, with a switch' })
    await page.getByText('Saved', { exact: true }).waitFor()
    await go('/')
    await cardOf(THEIRS).waitFor()
    await go('/video/v1/')
    await heading(THEIRS).waitFor()
    assert.match(await page.title(), /quokka/)

    // Titles of videos of which the page has only the id arrive later; a phone collapses the entries of a playlist.
    for (const [address, shownIn] of [
      ['/search/?q=full%3Aquiet', 'main'],
      ['/said/?q=full%3Aquiet', 'main'],
      ['/video/v1/?list=PL1', '.opened ol'],
    ] as const) {
      await go(address)
      await page.locator(shownIn).getByText(THEIRS, { exact: true }).first().waitFor({ state: 'attached' })
      assert.equal(await page.getByText(ORIGINAL).count(), 0, address)
    }

    await go('/settings/appearance/')
    await page.getByLabel('Titles of videos').selectOption({ label: 'Original only' })
    await page.getByText('Saved', { exact: true }).waitFor()
    await go('/')
    await cardOf(ORIGINAL).waitFor()
    if (size === 'desktop') await cardOf(ORIGINAL).hover()
    await cardOf(ORIGINAL).getByRole('button', { name: /^More/ }).waitFor()
    assert.equal(await page.getByRole('button', { name: OTHER }).count(), 0)
  })
