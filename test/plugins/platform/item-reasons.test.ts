/** The reasons why a queue item has failed, in our own words, for every known failure. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { inEnglish } from '../../../core/base/say.ts'
import { ERROR_CLASSES } from '../../../plugins/download/schema.ts'
import { classify, forPeople } from '../../../plugins/platform/classify.ts'
import { FAILURES, type ItemFailureClass } from '../../../plugins/platform/failure-classes.ts'
import { reasonOf } from '../../../plugins/platform/reasons.ts'

interface Fixture {
  case: string
  exitCode: number
  stderr: string
}
const fixtures = JSON.parse(
  readFileSync(new URL('../../platform/stderr-fixtures.json', import.meta.url), 'utf8'),
) as Fixture[]

/** The reason as an item would show it. */
const shown = (message: string): string | undefined => {
  const { failure, message: kept } = classify({ kinds: [], message, warnings: [] }, 0)
  const reason = reasonOf(failure as ItemFailureClass, kept)
  return reason && inEnglish(reason)
}

test('each recorded failure of a video has our own words', () => {
  const said = Object.fromEntries(
    fixtures
      .filter(({ exitCode }) => exitCode !== 0)
      .map(({ case: name, stderr }) => [name, stderr.slice(stderr.indexOf('ERROR:'))] as const)
      .filter(([, error]) => FAILURES[classify({ kinds: [], message: error }, 0).failure].item !== 'wait')
      .map(([name, error]) => [name, shown(error)]),
  )

  const { private: one, removed, terminated, policy_removed, copyright, copyright_blocked, geo_blocked } = said
  assert.deepEqual(
    { one, removed, terminated, policy_removed, copyright, copyright_blocked, geo_blocked },
    {
      one: 'This video is private',
      removed: 'Removed by the uploader',
      terminated: 'The uploader’s account was closed',
      policy_removed: 'Removed for breaking the platform’s rules',
      copyright: 'Taken down on a copyright claim by Example Pictures',
      copyright_blocked: 'Blocked on copyright grounds',
      geo_blocked: 'Blocked in this country',
    },
  )
  assert.equal(said['members_level'], 'Only for members at the level Crew')
  assert.equal(said['media_status 404'], 'The platform answered with error 404')
  assert.equal(said['media_status 503'], 'The platform answered with error 503')
  assert.equal(said['upcoming_premiere'], 'Its premiere has not started yet')
  assert.equal(said['drm'], 'Protected against copying (DRM)')
  // An unknown failure keeps its own words.
  assert.deepEqual(
    Object.keys(said).filter((name) => said[name] === undefined),
    ['not a page of the platform', 'api_garbage'].filter((name) => said[name] === undefined),
  )
})

test('an unavailable quality says which ones are available', () => {
  const of = (message: string) => inEnglish(reasonOf('not_offered', forPeople(message))!)

  assert.equal(
    of('720p is the best that is offered, 2160p is wanted'),
    '720p is the best available, but 2160p is wanted',
  )
  assert.equal(of('The sound is not offered in the language de-AT'), 'No audio track in the language de-AT')
})

test('without specific words the class is described, and an unknown class is not', () => {
  const known = ERROR_CLASSES.filter((failure) => reasonOf(failure, 'words of a platform that we have never met'))

  assert.deepEqual(
    known,
    ERROR_CLASSES.filter((failure) => failure !== 'unknown'),
  )
})
