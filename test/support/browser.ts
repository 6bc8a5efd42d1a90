/**
 * Chromium for tests of the page: opened once per file, with a new context for each page, and the checks that every
 * page must pass.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type axe from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Route,
} from 'playwright-core'
import { systemClock } from '../../core/base/clock.ts'
import { withinTime } from '../../core/base/limit.ts'
import { undeclaredParameters } from './declared-parameters.ts'
import { whenHanging } from './hanging.ts'
import { lastFirst, type Scope } from './last-first.ts'
import { missingHere } from './required.ts'
import { ROOT } from './sources.ts'

export type { Page, Request } from 'playwright-core'

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 800 }
const SIZES = { phone: PHONE, desktop: DESKTOP }
const ARGUMENTS = [
  '--no-sandbox',
  // Gives each frame of another origin its own process, which Chromium with windows does by default.
  '--site-per-process',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
  '--mute-audio',
]
const PATIENCE_MS = 30_000
/** For what needs a real yt-dlp first, while other tests run. */
export const PATIENCE = { timeout: 180_000 }

/** Finds tests and page code that depend on fast answers: `AV_TEST_LATENCY_MS=500`. */
const LATENCY_MS = Number(process.env.AV_TEST_LATENCY_MS ?? 0)

const executablePath = find()

function find(): string | undefined {
  for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    } catch {}
  }
  return undefined
}

/** For the option `skip` of tests: false if there is a browser. */
export const noBrowser: string | false = executablePath
  ? false
  : missingHere('chromium', 'Chromium is not installed (on Debian: apt-get install chromium)')

/** The minified form, because each page parses it again; it takes half the time. */
const AXE = createRequire(join(ROOT, 'package.json')).resolve('axe-core/axe.min.js')
let axeSource: string | undefined
/** Longest wait for animations, and for axe. */
const [REST_MS, AXE_LIMIT_MS] = [5000, 60_000]

let shared: Promise<Browser> | undefined

/** The caller closes it. */
export const launch = (): Promise<Browser> => chromium.launch({ executablePath: executablePath!, args: ARGUMENTS })

/** One browser per file; each page has its own context. */
const openBrowser = (): Promise<Browser> => (shared ??= launch())
// Registered here and not where the browser is opened, because there the hook would run after one test, not after the
// file. Benches have no such hook.
if (process.env.NODE_TEST_CONTEXT !== undefined || process.argv[1]?.endsWith('.test.ts'))
  after(async () => {
    const browser = await shared
    if (browser) await closed(browser)
  })

/** A browser that no longer answers would block the run for ever, so it is killed; the next page gets a new one. */
async function closed(opened: Browser | BrowserContext): Promise<void> {
  const closing = opened.close().then(
    () => true,
    () => true,
  )
  if (await Promise.race([closing, setTimeout(PATIENCE_MS, false, { ref: false })])) return
  shared = undefined
  process.stderr.write('A browser did not close within 30 s, and was ended\n')
  // Each browser is the leader of its own process group.
  const ours = execFileSync('pgrep', ['-P', String(process.pid), '-f', executablePath!], { encoding: 'utf8' })
  for (const id of ours.trim().split('\n')) process.kill(-Number(id), 'SIGKILL')
  await closing
}

export interface PageOptions {
  size?: keyof typeof SIZES
  colorScheme?: 'light' | 'dark'
  /** Signs in by `POST /login/` before the first navigation. */
  as?: { username: string; password: string }
  options?: BrowserContextOptions
  /** Limit of each wait for the page. */
  limitMs?: number
}

export interface Watched {
  page: Page
  /** Opens an address of the page, such as `/video/abc/`. */
  go(address: string): Promise<void>
  /**
   * Checks accessibility, console and requests. Call it whenever the page shows something new.
   * @param allowed  patterns of expected console lines, such as that of a refused request
   */
  check(allowed?: RegExp[]): Promise<void>
  /** Query parameters of the requests so far that no route declares. */
  undeclared(): Promise<string[]>
  /** Takes a screenshot for inspection, only if AV_SCREENSHOTS names a folder. */
  shot(name: string): Promise<void>
}

/**
 * Opens a page with empty storage, as on a first visit.
 * @param baseUrl  of the server, with or without its final slash
 */
export async function openPage(
  scope: Scope,
  baseUrl: string,
  { size = 'desktop', colorScheme = 'light', as, options = {}, limitMs = PATIENCE_MS }: PageOptions = {},
): Promise<Watched> {
  const root = baseUrl.replace(/\/$/, '')
  const context = await (await openBrowser()).newContext({
    viewport: SIZES[size],
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    // `page.route` does not see a worker's requests; tests of the worker allow workers.
    serviceWorkers: 'block',
    ...(size === 'phone' && { hasTouch: true, isMobile: true }),
    ...options,
  })
  lastFirst(scope).after(() => closed(context))
  context.setDefaultTimeout(limitMs)
  if (as) {
    const signedIn = await context.request.post(`${root}/login/`, { data: { ...as, remember_me: 'on' } })
    assert.equal(signedIn.status(), 204, 'signing in')
  }
  if (LATENCY_MS) await delay(context)
  const page = await context.newPage()
  limitWaits(page, limitMs)
  const said: string[] = []
  const log: string[] = []
  const foreign: string[] = []
  const asked: string[] = []
  page.on('console', (message) => {
    const line = `${message.text()} (${message.location().url})`
    log.push(line)
    if (message.type() === 'error') said.push(line)
  })
  lastFirst(scope).after(whenHanging((name) => shownHanging(page, name, log)))
  page.on('pageerror', (error) => void said.push(String(error.stack ?? error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!/^(data|blob):/.test(url) && new URL(url).host !== new URL(root).host) foreign.push(url)
    if (request.method() === 'GET') asked.push(url)
  })

  return {
    page,
    go: async (address) => void (await page.goto(root + address)),
    async check(allowed = []) {
      assert.deepEqual(foreign, [], 'no request leaves our host')
      assert.deepEqual(
        said.filter((line) => !allowed.some((pattern) => pattern.test(line))),
        [],
        'the console has no errors',
      )
      const found = await withinTime(
        systemClock,
        AXE_LIMIT_MS,
        violations(page),
        () => new Error('axe does not answer'),
      )
      assert.deepEqual(found, [], 'axe finds nothing')
    },
    undeclared: () => undeclaredParameters(asked, root, context.request),
    async shot(name) {
      const folder = process.env.AV_SCREENSHOTS
      if (!folder) return
      await mkdir(folder, { recursive: true })
      await page.screenshot({ path: join(ROOT, folder, `${name}-${size}-${colorScheme}.png`) })
    },
  }
}

type Act = (this: unknown, ...given: unknown[]) => Promise<unknown>

/**
 * Playwright does not limit these waits: a page that stands still would end none of them. Waits that have a locator or
 * a selector end by the default timeout of the context, but not what a locator evaluates.
 */
function limitWaits(page: Page, limitMs: number): void {
  limit(page, ['evaluate'], limitMs, () => 'page')
  limit(page.keyboard, ['press', 'type', 'down', 'up', 'insertText'], limitMs, () => 'keyboard')
  limit(page.mouse, ['move', 'down', 'up', 'click', 'wheel'], limitMs, () => 'mouse')
  if (areLocatorsLimited) return
  areLocatorsLimited = true
  limit(Object.getPrototypeOf(page.locator('html')), ['evaluate', 'evaluateAll'], PATIENCE_MS, String)
}

/** Locators are made anew for each use, so their class is changed. */
let areLocatorsLimited = false

/** @param nameOf  names the object in the error */
function limit(owner: object, names: readonly string[], limitMs: number, nameOf: (one: unknown) => string): void {
  for (const name of names) {
    const act: Act = Reflect.get(owner, name)
    const limited: Act = function (...given) {
      const what = `${nameOf(this)}.${name}(${String(given[0]).replace(/\s+/g, ' ').slice(0, 100)})`
      return inTime(act.apply(this, given), what, limitMs)
    }
    Reflect.set(owner, name, limited)
  }
}

/** @throws an error with the stack of the caller that names `what`, if it takes too long */
function inTime<Value>(work: Promise<Value>, what: string, limitMs = PATIENCE_MS): Promise<Value> {
  const late = new Error(`${what} did not end within ${limitMs / 1000} s`)
  return withinTime(systemClock, limitMs, work, () => late)
}

/** Returns a picture of the page, its address, and the last lines of its console. */
async function shownHanging(page: Page, name: string, log: readonly string[]): Promise<string> {
  const path = join(ROOT, '.cache/hanging', `${name.replace(/\W+/g, '-').slice(0, 80)}.png`)
  const lines = [`The page is at ${page.url()}`, ...log.slice(-20)]
  const isTaken = await page.screenshot({ path, timeout: 5000 }).then(
    () => true,
    () => false,
  )
  return [...lines, isTaken ? `Its picture is ${path}` : 'No picture can be taken of it'].join('\n')
}

/** Simulates a slow connection: delays each request or its answer by a different time, except the event stream. */
async function delay(context: BrowserContext): Promise<void> {
  const moment = () => setTimeout(Math.random() * LATENCY_MS)
  await context.route(/\/api\/(?!events\/)/, async (route) => {
    try {
      if (Math.random() < 0.5) {
        await moment()
        return await route.continue()
      }
      const response = await route.fetch({ maxRedirects: 0 })
      await moment()
      await route.fulfill({ response })
    } catch {
      await route.abort().catch(() => undefined) // the page has navigated, or the server has stopped
    }
  })
}

/**
 * Changes the answers of such a request on their way. A request that the end of the test has left without a server is
 * ignored.
 */
export async function changeAnswer(
  page: Page,
  pattern: string | RegExp,
  change: (answer: any) => object | Promise<object>,
): Promise<void> {
  await page.route(pattern, async (route) => {
    try {
      await route.fulfill({ json: await change(await (await route.fetch()).json()) })
    } catch {
      await route.abort().catch(() => undefined)
    }
  })
}

/**
 * Holds back the answers of such requests, as they were at the time of the request, until `release` is called.
 * @param method  only requests of this method
 * @param times  the number of requests that are held back; default: all
 */
export async function holdBack(
  page: Page,
  pattern: RegExp,
  method?: string,
  times?: number,
): Promise<{ asked: Promise<void>; release: () => void }> {
  let hasAsked = () => {}
  let release = () => {}
  const asked = inTime(new Promise<void>((resolve) => (hasAsked = resolve)), `The request ${pattern}`)
  asked.catch(() => undefined) // not every test waits for it
  const released = new Promise<void>((resolve) => (release = resolve))
  const hold = async (route: Route) => {
    if (method !== undefined && route.request().method() !== method) return route.fallback()
    try {
      const response = await route.fetch()
      hasAsked()
      await released
      await route.fulfill({ response })
    } catch (error) {
      // The test has ended.
      if (!/disposed|closed/.test(String(error))) throw error
    }
  }
  await page.route(pattern, hold, times === undefined ? {} : { times })
  return { asked, release }
}

/**
 * Holds back the next request to such an address, but no later ones.
 * @returns releases it; resolves when it has been answered
 */
export async function holdUp(page: Page, pattern: RegExp): Promise<() => Promise<void>> {
  let release = () => {}
  let end = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const answered = new Promise<void>((resolve) => (end = resolve))
  let isFirst = true
  await page.route(pattern, async (route) => {
    if (!isFirst) return route.fallback()
    isFirst = false
    await released
    await route.fulfill({ response: await route.fetch() })
    end()
  })
  return () => (release(), inTime(answered, `The answer to ${pattern}`))
}

/** Simulates a slow device: keys are handled before the next animation frame of the page. */
export const lateFrames = (page: Page): Promise<void> =>
  page.evaluate(`{
    const next = requestAnimationFrame
    globalThis.requestAnimationFrame = (act) => next(() => setTimeout(act, 2000, performance.now() + 2000))
  }`)

/**
 * Measures how far the content of later documents moves by itself, as Chromium does: 0 means not at all.
 * @returns the sum so far
 */
export async function measureShifts(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(
    'moved = 0; new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (moved += value))).observe({ type: "layout-shift", buffered: true })',
  )
  return async () => {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    return Number(await page.evaluate('moved'))
  }
}

/** `rule: where` for each violation. */
async function violations(page: Page): Promise<string[]> {
  // Each view has a heading; without one, its chunk is still loading.
  await page.locator('h1').first().waitFor({ state: 'attached' })
  const found = await violationsAtRest(page)
  // Something that arrived between the wait and the measurement, such as a server event, may have started an animation.
  return found.length > 0 ? violationsAtRest(page) : found
}

async function violationsAtRest(page: Page): Promise<string[]> {
  const frame = page.mainFrame() // its waits have no limit of their own: `check` has one for all of them
  // Colors are measured after animations have ended; a paused one, or one that is hidden halfway, never ends.
  await frame.evaluate(
    `Promise.race([
      Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished.catch(() => undefined))),
      new Promise((resolve) => setTimeout(resolve, ${REST_MS})),
    ])`,
  )
  if (!(await frame.evaluate('"axe" in window'))) await frame.evaluate((axeSource ??= readFileSync(AXE, 'utf8')))
  const { violations: found } = (await frame.evaluate(
    'axe.run(document, { resultTypes: ["violations"] })',
  )) as axe.AxeResults
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) => `${id}: ${target.join(' ')} – ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  )
}
