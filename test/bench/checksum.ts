/**
 * Measures the share of a core that a scrub takes at its normal pace, and the cost of a checksum relative to the
 * download of its film.
 */
import { randomBytes } from 'node:crypto'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openReader } from '../../plugins/checksum/reader.ts'
import { temporaryFolder } from '../support/folder.ts'
import { cpuSeconds, descendants } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const MB = 1_000_000
const PACE = 20 * MB
const FILM_MB = isQuick ? 100 : 400
/** Download speed of a fast connection (300 Mbit/s), in bytes per second. */
const LINE = 37.5 * MB

const report = openReport('checksum')
const scope = openScope()
const folder = await temporaryFolder(scope)
const [film, small] = [join(folder, 'film.mp4'), join(folder, 'small.mp4')]
await writeFile(small, 'a process starts for this one')
for (let written = 0; written < FILM_MB; written++) await appendFile(film, randomBytes(MB))
const reader = openReader()
const { signal } = new AbortController()
await reader.read(small, { bytesPerSecond: 0, signal })
const children = await descendants(process.pid)

const scrub = await measured(PACE)
report(`scrub of ${FILM_MB} MB at ${PACE / MB} MB/s, of a core`, {
  ...{ unit: '%', value: (scrub.cpu / scrub.seconds) * 100, atMost: 3 },
  note: `${(FILM_MB / scrub.seconds).toFixed(1)} MB/s`,
})
const hashing = await measured(0)
report(`checksum of ${FILM_MB} MB, of the download's time at 300 Mbit/s`, {
  ...{ unit: '%', value: (hashing.cpu / ((FILM_MB * MB) / LINE)) * 100, atMost: 5 },
  note: `${(FILM_MB / hashing.cpu).toFixed(0)} MB for each second of processor time`,
})
reader.end()
await scope.close()

async function measured(bytesPerSecond: number): Promise<{ cpu: number; seconds: number }> {
  const [before, began] = [await cpuOfChildren(), performance.now()]
  const sum = await reader.read(film, { bytesPerSecond, signal })
  if ('code' in sum) throw new Error(sum.code)
  return { cpu: (await cpuOfChildren()) - before, seconds: (performance.now() - began) / 1000 }
}

async function cpuOfChildren(): Promise<number> {
  return (await Promise.all(children.map((pid) => cpuSeconds(pid)))).reduce((sum, one) => sum + one, 0)
}
