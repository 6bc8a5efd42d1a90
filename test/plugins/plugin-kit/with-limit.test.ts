/** Work with a time limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { abortable } from '../../../core/base/abortable.ts'
import { withLimit } from '../../../plugins/plugin-kit/with-limit.ts'

const never = (signal: AbortSignal): Promise<never> => abortable<never>(signal, () => undefined)

test('the time ends even if everything unreferenced was collected meanwhile', async () => {
  setFlagsFromString('--expose-gc')
  const sweep = runInNewContext('gc') as () => void
  const job = new AbortController()
  const limited = withLimit(100, job.signal, never)
  const sweeping = setInterval(sweep, 5)

  await assert.rejects(limited, { name: 'TimeoutError' })

  clearInterval(sweeping)
})

test('the given signal ends it, too, with its own reason', async () => {
  const job = new AbortController()
  const limited = withLimit(60_000, job.signal, never)

  job.abort(new Error('stopped'))

  await assert.rejects(limited, /stopped/)
})

test('work that ends in time returns its result, and nothing of the limit remains', async () => {
  assert.equal(await withLimit(60_000, undefined, async () => 'done'), 'done')
  await assert.rejects(
    withLimit(60_000, undefined, () => Promise.reject(new Error('broken'))),
    /broken/,
  )
})
