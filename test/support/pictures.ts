/** `make pictures`: takes the pictures of the README from the demo, so that they always show the actual page. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { VIDEO } from '../platform/seed.mjs'
import { DESKTOP, launch, type Page, PHONE } from './browser.ts'
import { spokenBy } from './said.ts'
import { until } from './server.ts'
import { ROOT } from './sources.ts'

const FOLDER = join(ROOT, 'config/pictures')
const LOCALE = { locale: 'en-GB', timezoneId: 'UTC' }
const PATIENCE_MS = 300_000
const VIDEOS = 6

interface Listed {
  paginate: { total_hits: number }
}

const demo = spawn(process.execPath, [...process.execArgv, join(ROOT, 'test/support/demo.ts')], {
  env: { ...process.env, AV_PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const said = await spokenBy(demo)(/runs on (\S+) \(user (\S+), password (\S+), token (\S+)\)/)
  const [url, username, password, token] = said.slice(1) as [string, string, string, string]
  await whenDownloaded(url, token)
  await mkdir(FOLDER, { recursive: true })
  await take({ url, username, password })
} finally {
  demo.kill('SIGTERM')
  await once(demo, 'exit')
}

async function whenDownloaded(url: string, token: string): Promise<void> {
  const headers = { authorization: `Token ${token}` }
  const count = async (): Promise<number> => {
    const { paginate } = (await (await fetch(`${url}api/video/`, { headers })).json()) as Listed
    return paginate.total_hits
  }
  await until(`the demo has downloaded ${VIDEOS} videos`, count, (found) => found >= VIDEOS, PATIENCE_MS)
}

async function take({ url, username, password }: { url: string; username: string; password: string }): Promise<void> {
  const browser = await launch()
  try {
    const context = await browser.newContext({ viewport: DESKTOP, ...LOCALE })
    await context.request.post(`${url}login/`, { data: { username, password, remember_me: 'on' } })
    const save = async (page: Page, name: string) => {
      await page.waitForLoadState('networkidle')
      await page.screenshot({ path: join(FOLDER, `${name}.jpg`), type: 'jpeg', quality: 80 })
      process.stdout.write(`config/pictures/${name}.jpg\n`)
    }
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByText('Downloading').waitFor({ state: 'hidden', timeout: PATIENCE_MS })
    await page
      .getByRole('article')
      .nth(VIDEOS - 1)
      .waitFor()

    await page.goto(`${url}video/${VIDEO.breakwater}/?t=14`)
    await page.getByRole('button', { name: 'Transcript', exact: true }).click()
    await page.getByRole('region', { name: 'Transcript' }).getByRole('listitem').first().waitFor()
    await save(page, 'player')

    await page.goto(url)
    await page.getByRole('heading', { name: 'Continue watching' }).waitFor()
    await page.getByRole('article').nth(VIDEOS).waitFor()
    await save(page, 'home')

    await page.goto(`${url}search/?q=tide`)
    await page.locator('mark').first().waitFor()
    await save(page, 'search')

    // The same session, because a new one would be announced as a sign-in.
    const storageState = await context.storageState()
    const phone = await (await browser.newContext({ viewport: PHONE, ...LOCALE, storageState })).newPage()
    await phone.goto(url)
    await phone.getByRole('article').first().waitFor()
    await save(phone, 'phone')
  } finally {
    await browser.close()
  }
}
