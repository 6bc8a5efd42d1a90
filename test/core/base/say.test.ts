/** Sentences: as English text, and as a template with values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, wordsOf } from '../../../core/base/error.ts'
import { inEnglish, saidOf, say, sentenceOf } from '../../../core/base/say.ts'
import { toFault } from '../../../core/http/fault.ts'

const bodyOf = (thrown: unknown) => JSON.parse(toFault(thrown).body) as Record<string, any>

test('a sentence keeps its template and its values separate', () => {
  const name = 'Boats {count}'
  const words = say`The playlist ${{ name }} has ${{ count: 2 + 1 }} videos`

  assert.deepEqual(words, {
    key: 'The playlist {name} has {count} videos',
    params: { name: 'Boats {count}', count: 3 },
  })
  assert.equal(inEnglish(words), 'The playlist Boats {count} has 3 videos')
  assert.equal(say`Nothing to fill in`, 'Nothing to fill in')
})

test('an error is an English sentence with its template and values', () => {
  const inner = errors.unavailable(say`“${{ label: 'attic' }}” is away`)
  const body = bodyOf(errors.badRequest(say`Not read: ${{ reason: sentenceOf(wordsOf(inner)) }}`))

  assert.equal(body['message'], 'Not read: “attic” is away')
  assert.deepEqual(body['said'], {
    'Not read: “attic” is away': {
      key: 'Not read: {reason}',
      params: { reason: { key: '“{label}” is away', params: { label: 'attic' } } },
    },
  })
  assert.equal('said' in bodyOf(errors.conflict('This name is taken')), false)
})

test('an error of a field has a template and values, too', () => {
  const { message, fields, said } = bodyOf(errors.wrongField('count', say`must be at least ${{ limit: 3 }}`))

  assert.equal(message, 'count must be at least 3')
  assert.deepEqual(fields, { count: 'must be at least 3' })
  assert.deepEqual(said['must be at least 3'], { key: 'must be at least {limit}', params: { limit: 3 } })
  assert.deepEqual(said[message].params, { place: 'count', rule: said['must be at least 3'] })
})

test('values contain no paths of this machine, and neither does the sentence', () => {
  const reason = "EACCES: permission denied, open '/srv/films/secret.mp4'"
  const { message, said } = bodyOf(errors.unavailable(say`It could not be read: ${{ reason }}`))

  assert.equal(message, 'It could not be read: EACCES: permission denied')
  assert.deepEqual(said[message].params, { reason: 'EACCES: permission denied' })
})

test('a sentence without values is stored without a template', () => {
  assert.deepEqual(saidOf(['A', 'B']), { texts: ['A', 'B'] })
})
