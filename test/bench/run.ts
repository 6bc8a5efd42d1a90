/**
 * `make bench [BENCH="http queue"]`: runs the benches one after another, prints one table, lists the limits that are
 * missed with their earlier values, and stores the figures in bench.json for the next run.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/sources.ts'
import { compareRuns, lineOf, missesOf, type Row } from './support/report.ts'

const NOT_BENCHES = ['run', 'generate']
const folder = join(ROOT, 'test/bench')
const all = (await readdir(folder))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3))
  .filter((name) => !NOT_BENCHES.includes(name))
  .toSorted()
const options = process.argv.slice(2).filter((word) => word.startsWith('--'))
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const unknown = wanted.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}: there are ${all.join(', ')}\n`)
  process.exit(2)
}

const scratch = await mkdtemp(join(tmpdir(), 'archivolt-bench-'))
const BENCH_ROWS = join(scratch, 'rows.ndjson')
await writeFile(BENCH_ROWS, '')
const failed: string[] = []
for (const name of wanted.length > 0 ? wanted : all) {
  process.stdout.write(`== ${name}\n`)
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=source', join(folder, `${name}.ts`), ...options],
    { stdio: 'inherit', env: { ...process.env, BENCH_ROWS } },
  )
  const [code] = await once(child, 'exit')
  if (code !== 0) failed.push(name)
}

const measured = (await readFile(BENCH_ROWS, 'utf8'))
  .split('\n')
  .filter(Boolean)
  .map((line): Row => JSON.parse(line))
await rm(scratch, { recursive: true })
const file = join(ROOT, 'bench.json')
const last = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : { rows: [] }
const { rows, kept } = compareRuns(measured, last.rows)
const missed = missesOf(rows)
process.stdout.write(
  [
    `\nAll of them, Node ${process.versions.node} on ${cpus().length} cores`,
    ...rows.map(lineOf),
    `\n${missed.length} of ${rows.filter(({ reach }) => reach).length} limits missed`,
    ...missed,
    '',
  ].join('\n'),
)
// Figures of a quick run are not stored, because they are not comparable.
if (!options.includes('--quick')) {
  const figures = { node: process.versions.node, cores: cpus().length, failed, rows: kept }
  await writeFile(`${file}.new`, `${JSON.stringify(figures, undefined, 1)}\n`)
  await rename(`${file}.new`, file)
}
if (failed.length > 0) {
  process.stderr.write(`Broken off: ${failed.join(', ')}\n`)
  process.exit(1)
}
