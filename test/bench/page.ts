/**
 * Measures the page over 100,000 videos in Chromium: how soon Home is complete on a processor that is four times
 * slower, how long navigation takes, and whether scrolling drops frames.
 */
import { DESKTOP, launch, noBrowser, type Page } from '../support/browser.ts'
import { PASSWORD, USERNAME } from '../support/server.ts'
import { firstSnapshotTaken, rssMb, startArchive } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const VIDEOS = 100_000
const SLOWER = 4
const ROUNDS = isQuick ? 3 : 7
/** Scrolls at 6000 pixels per second, a fast flick. */
const STEP_PX = 100
const STEPS = isQuick ? 150 : 600
const FILLED = '.virtual .card:not(.ghost)'

/** Recorded inside the page, because calls from outside take time themselves. */
const WATCHER = `
  globalThis.seen = { filledMs: undefined, tasks: [] }
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) seen.tasks.push(duration) }).observe({ type: 'longtask', buffered: true })
  new MutationObserver((_, observer) => {
    if (!document.querySelector('${FILLED}')) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => { seen.filledMs = performance.now() }))
  }).observe(document, { childList: true, subtree: true })
`

interface Seen {
  seen: { filledMs?: number }
}

if (noBrowser) {
  process.stdout.write(`${noBrowser}\n`)
  process.exit(0)
}
const report = openReport('page')
const scope = openScope()
const server = await startArchive(scope, { videos: VIDEOS })
await firstSnapshotTaken(server)
const browser = await launch()
scope.after(() => browser.close())
const before = await rssMb(server.child.pid!)

async function visitor(): Promise<Page> {
  const context = await browser.newContext({ viewport: DESKTOP })
  await context.request.post(`${server.baseUrl}/login/`, { data: { username: USERNAME, password: PASSWORD } })
  const page = await context.newPage()
  await page.addInitScript(WATCHER)
  await slow(page, SLOWER)
  return page
}

async function slow(page: Page, rate: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate })
}

async function fill(page: Page): Promise<number> {
  await page.goto(server.baseUrl)
  await page.waitForFunction(() => (globalThis as unknown as Seen).seen.filledMs !== undefined)
  return (await page.evaluate('seen.filledMs')) as number
}

/** Pictures of cards load lazily, so they are counted separately. */
function countAsked(visited: Page): string[] {
  const asked: string[] = []
  visited.on(
    'request',
    (request) => void (!new URL(request.url()).pathname.startsWith('/cache/') && asked.push(request.url())),
  )
  return asked
}

const requests: number[] = []
const [first, again]: [number[], number[]] = [[], []]
let page!: Page
for (let round = 0; round < ROUNDS; round++) {
  await page?.context().close()
  page = await visitor()
  const asked = countAsked(page)
  const isLast = page.waitForResponse(/\/api\/platform\/$/)
  first.push(await fill(page))
  await isLast
  requests.push(asked.length)
  again.push(await fill(page))
}
report(`Home full at the first visit, processor ${SLOWER} times slower`, {
  unit: 'ms',
  value: median(first),
  atMost: 1000,
})
report('requests of the first visit, pictures of cards apart', { unit: '', value: Math.max(...requests), atMost: 12 })
report('the same at the next visit', { unit: 'ms', value: median(again), atMost: 1000 })

await slow(page, 1)

/** Time from the click until the heading of the new view is on the screen. */
const change = (selector: string, there: string): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    const started = performance.now()
    const done = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)))
    const observer = new MutationObserver(() => {
      if (!document.querySelector(${JSON.stringify(there)})) return
      observer.disconnect()
      done()
    })
    observer.observe(document, { childList: true, subtree: true })
    document.querySelector(${JSON.stringify(selector)}).click()
  })`)

const changes: Record<'video' | 'home', number[]> = { video: [], home: [] }
for (let round = 0; round < ROUNDS + 1; round++) {
  await page.waitForSelector(FILLED)
  changes.video.push(await change(`${FILLED} .card-title a`, '.watch'))
  await page.waitForSelector('.watch h1')
  changes.home.push(await change('.rail a', FILLED))
}
// The first visit of each loads its chunk, so it is left out.
report('Home to a video', { unit: 'ms', value: median(changes.video.slice(1)), atMost: 100 })
report('back to Home', { unit: 'ms', value: median(changes.home.slice(1)), atMost: 100 })

await page.evaluate('seen.tasks.length = 0')
await page.mouse.move(640, 500)
for (let step = 0; step < STEPS; step++) {
  await page.mouse.wheel(0, STEP_PX)
  await page.evaluate('new Promise((done) => requestAnimationFrame(done))')
}
const tasks = (await page.evaluate('seen.tasks')) as number[]
report(`longest task while scrolling ${STEPS * STEP_PX} pixels`, {
  unit: 'ms',
  value: Math.max(0, ...tasks),
  atMost: 50,
})
report('cards in the document after it', {
  unit: '',
  value: (await page.evaluate(`document.querySelectorAll('.virtual .card').length`)) as number,
  atMost: 100,
})
report('the server’s memory after it', {
  unit: 'MB',
  value: await rssMb(server.child.pid!),
  beside: before,
  atMost: 150,
  limits: 'value',
})
await scope.close()
