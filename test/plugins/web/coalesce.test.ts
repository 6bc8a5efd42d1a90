/** Calls within a short time are combined, and slow work is never repeated while it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { coalesce } from '../../../plugins/web/page/stores/coalesce.ts'
import { until } from '../../support/server.ts'

test('a call while the work runs starts it once more afterwards', async () => {
  const ends: Array<() => void> = []
  const { soon } = coalesce(() => new Promise<void>((resolve) => ends.push(resolve)), 0)
  const begun = (count: number) =>
    until(
      `run ${count}`,
      async () => ends.length,
      (runs) => runs === count,
    )

  soon()
  soon()
  await begun(1)
  soon()
  soon()
  await setTimeout(10)
  assert.equal(ends.length, 1)
  ends[0]!()
  await begun(2)
  ends[1]!()
  await setTimeout(10)
  assert.equal(ends.length, 2)
})
