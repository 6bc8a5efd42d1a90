/** A request to mark a channel or playlist as a crash may leave it: accepted, but nothing is marked yet. */
import type { Job } from 'archivolt'
import type { TestApp } from './testing.ts'

export async function startMarking(
  { app }: TestApp,
  {
    userId = 1,
    id = 'UC1',
    isWatched = true,
    at = 5,
  }: { userId?: number; id?: string; isWatched?: boolean; at?: number },
): Promise<Job> {
  const { lastInsertRowid } = await app.ledger.write(() =>
    app.ledger
      .sql(`INSERT INTO watch_marking (user_id, kind, target, is_watched, at) VALUES (?, 'channel', ?, ?, ?)`)
      .run(userId, id, Number(isWatched), at),
  )
  return app.jobs.start('watch.mark', { userId, number: Number(lastInsertRowid) })
}
