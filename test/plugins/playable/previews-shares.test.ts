/** Seek previews on request: each account has a share of the queue, and a turn. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { errors } from 'archivolt'
import { aVideo, testApp } from 'archivolt/testing'

const [MANY, FEW] = [1, 2]

async function given(t: TestContext) {
  const app = await testApp(t)
  await app.as('admin').post('/api/config/', { playback: { seek_previews: true } })
  const { previews } = app.app
  return {
    app,
    previews,
    async want(account: number, name: string, count: number): Promise<void> {
      for (let number = 0; number < count; number++) {
        await previews.want(`${name}${number}`, account)
        await app.clock.advance(1)
      }
    },
  }
}

test('the failure of an earlier film does not end the request for the new one', async (t) => {
  const { app, previews, want } = await given(t)
  await app.given(aVideo({ id: 'one0' }))
  await want(FEW, 'one', 1)
  const { videos } = app.app
  let isFirst = true
  videos.get = async (id) => {
    if (!isFirst) return undefined
    isFirst = false
    await previews.drop([id])
    await want(FEW, 'one', 1)
    throw errors.unprocessable('The film is damaged')
  }

  await app.app.jobs.start('preview.make')
  await app.settled()

  assert.notEqual(previews.stateOf('one0'), 'impossible')
})

test('an account with very many requests displaces its own, and not those of others', async (t) => {
  const { previews, want } = await given(t)
  await want(FEW, 'few', 50)

  await want(MANY, 'many', 150)

  const isWanted = (id: string) => previews.stateOf(id) === 'wanted'
  assert.deepEqual([isWanted('few0'), isWanted('few49')], [true, true])
  assert.deepEqual([isWanted('many99'), isWanted('many100'), isWanted('many149')], [false, true, true])
})

test('a single account may use the whole queue', async (t) => {
  const { previews, want } = await given(t)

  await want(MANY, 'many', 110)

  assert.deepEqual([previews.stateOf('many9'), previews.stateOf('many10')], [undefined, 'wanted'])
})

test('accounts take turns, whoever requests last and most', async (t) => {
  const { previews, want } = await given(t)
  await want(FEW, 'few', 2)
  await want(MANY, 'many', 5)

  const order: string[] = []
  for (let wish = previews.next(); wish; wish = previews.next()) {
    order.push(wish.id)
    await previews.giveUp(wish.id)
    if (order.length < 3) await want(MANY, `more${order.length}-`, 1)
  }

  assert.deepEqual(order, ['many4', 'few1', 'more2-0', 'few0', 'more1-0', 'many3', 'many2', 'many1', 'many0'])
})
