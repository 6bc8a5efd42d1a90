/**
 * A reporter for node:test that finally prints the files and tests that took longest and then the failures with their
 * reasons, so that the last lines of a run suffice; it stores the duration of each file. Plain JavaScript, because node
 * loads reporters before it supports TypeScript.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COUNT = 10
const REASON_LINES = 20
const LAST_WORDS = 1500
/** The exit code of `stands-still.mjs`. */
const STOOD_STILL = 70
/** Read by `groups.ts`. */
const TIMES_FILE = join(ROOT, '.cache/test-times.json')

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
export default async function* summary(events) {
  /** @type {Map<string, number>} */
  const files = new Map()
  /** @type {Array<[name: string, ms: number]>} */
  const tests = []
  /** @type {string[]} */
  const failures = []
  /** @type {Map<string, string>} */
  const lastWords = new Map()
  /** @type {string[]} */
  const stoodStill = []
  let failed = 0
  for await (const { type, data } of events) {
    if (type === 'test:stderr') {
      const said = (lastWords.get(data.file ?? '') ?? '') + data.message
      lastWords.set(data.file ?? '', said.slice(-LAST_WORDS))
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const path = relative(ROOT, data.file ?? '')
    const { duration_ms: ms, type: kind } = data.details
    // Nested tests are counted in the outer one.
    if (data.nesting === 0 && !path.startsWith('..')) files.set(path, (files.get(path) ?? 0) + ms)
    const name = `${path}: ${data.name}`
    if (kind !== 'suite') tests.push([name, ms])
    if (type === 'test:fail') {
      failed++
      const { error } = data.details
      failures.push(`  ${name}\n${indented(reasonOf(error))}`)
      // Code that ends a whole process reports it there, such as `stands-still.mjs`.
      if (error.exitCode === STOOD_STILL) stoodStill.push(data.file)
      if (hasEnded(error)) failures.push(indented(`${exitOf(error)}\n${lastWords.get(data.file ?? '') ?? ''}`))
    }
  }
  await keepTimes(files)
  const { TEST_OUTCOME } = process.env
  if (TEST_OUTCOME) await writeFile(TEST_OUTCOME, JSON.stringify({ failed: failed - stoodStill.length, stoodStill }))
  yield `\nSlowest files\n${list([...files])}\nSlowest tests\n${list(tests)}`
  if (failures.length > 0) yield `\nFailed\n${failures.join('')}`
}

/** @param {{ exitCode?: number, signal?: string }} error */
const hasEnded = ({ exitCode, signal }) => exitCode !== undefined || signal !== undefined

/** @param {{ exitCode?: number, signal?: string }} error */
const exitOf = ({ exitCode, signal }) => `its process ended with ${signal ?? `exit code ${exitCode}`}; the end of its log:`

/** @param {string} text */
const indented = (text) => (text === '' ? '' : `${text.replace(/^/gm, '      ').trimEnd()}\n`)

/**
 * The first lines of the error, or nothing if a test failed only because of its nested tests.
 * @param {Error & { failureType?: string }} error
 */
function reasonOf({ failureType, message, cause }) {
  if (failureType === 'subtestsFailed') return ''
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : message
  return text.split('\n').slice(0, REASON_LINES).join('\n')
}

/** @param {Array<[name: string, ms: number]>} entries */
const list = (entries) =>
  entries
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, COUNT)
    .map(([name, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${name}\n`)
    .join('')

/**
 * Stores the durations for the order of the next run.
 * @param {Map<string, number>} files
 */
async function keepTimes(files) {
  const before = JSON.parse(await readFile(TIMES_FILE, 'utf8').catch(() => '{}'))
  const part = `${TIMES_FILE}.${process.pid}`
  await writeFile(part, JSON.stringify({ ...before, ...Object.fromEntries(files) }, undefined, 1))
  await rename(part, TIMES_FILE)
}
