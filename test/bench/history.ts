/**
 * Measures the space that three changes of each of 100,000 videos take in the ledger, and how fast a timeline is read.
 */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { testApp } from '../support/testing.ts'
import { archiveOf, copyOfLibrary, inBatches } from './support/library.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
/** The limits are for 100,000 videos. */
const SHARE = VIDEOS / 100_000
const DESCRIPTION = 1900
const AT_ONCE = 200
const TIMES = 200
const MB = 1e6

const report = openReport('history')
const scope = openScope()
const dataDir = await copyOfLibrary(scope, VIDEOS)
// The library's queue is not needed.
await rm(join(dataDir, 'ledger.sqlite'), { force: true })
const { app, as } = await testApp(scope, { dataDir })
await app.jobs.ended((await app.jobs.start('history.settle')).id)

const videos = [...archiveOf(VIDEOS).videos()].map(({ doc }) => doc)
for (const some of inBatches(videos, AT_ONCE))
  await app.ledger.write(() => {
    for (const { platform_id: subject, title, description: text } of some) {
      const about = { kind: 'video', subject, seenAt: 1_764_000_000 } as const
      const description = text.slice(0, DESCRIPTION)
      const hashOf = (at: number) => createHash('md5').update(`${subject}${at}`).digest('hex').slice(0, 16)
      const { rows } = app.history
      rows.add({ ...about, part: 'title', before: title, after: `${title} (new cut)` })
      rows.add({ ...about, part: 'description', before: description, after: `Now on Nebula!\n${description}` })
      rows.add({
        ...{ ...about, part: 'thumbnail' },
        before: { picture: 'video', file: hashOf(1) },
        after: { picture: 'video', hash: hashOf(2) },
      })
    }
  })

const { bytes } = app.ledger
  .sql<{ bytes: number }>(
    `SELECT sum(pgsize) AS bytes FROM dbstat
     WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = 'history_change')`,
  )
  .get()!
report(`three changes of ${VIDEOS} videos, descriptions of ${DESCRIPTION} characters`, {
  ...{ unit: 'MB', value: bytes / MB, atMost: 100 * SHARE },
})

const taken: number[] = []
for (const { platform_id: id } of videos.slice(-TIMES)) {
  const started = performance.now()
  const { status } = await as('admin').get(`/api/change/?kind=video&id=${id}`)
  taken.push(performance.now() - started)
  if (status !== 200) throw new Error(`a timeline is answered with ${status}`)
}
report('the timeline of a video', { unit: 'ms', value: median(taken), atMost: 20 })
await scope.close()
