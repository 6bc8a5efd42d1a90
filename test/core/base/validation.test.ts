/** Errors of values are sentences with the path of the value; for alternatives, they list what is allowed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'archivolt'
import { inEnglish } from '../../../core/base/say.ts'
import { faultsIn, firstFaultIn } from '../../../core/base/validation.ts'
import { testApp } from '../../support/testing.ts'

const told = (schema: TSchema, value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(faultsIn(schema, value)).map(([place, rule]) => [place, inEnglish(rule)]))

const Size = Type.Integer({ minimum: 144, maximum: 4320 })
const ALTERNATIVES: ReadonlyArray<[what: string, schema: TSchema, value: unknown, rule: string]> = [
  ['a number or false', Type.Union([Size, Type.Literal(false)]), 9999, 'an integer from 144 to 4320 or false'],
  ['literals', Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(20)]), 5, '0, 1 or 20'],
  ['words or null', Type.Union([Type.Enum(['top', 'new']), Type.Null()]), 'x', '"top", "new" or null'],
  ['words or a switch', Type.Union([Type.Enum(['on', 'off']), Type.Boolean()]), 'x', '"on", "off", true or false'],
  [
    'a union in a union',
    Type.Union([Type.Union([Size, Type.Literal(false)]), Type.Null()]),
    'x',
    'an integer from 144 to 4320, false or null',
  ],
  [
    'texts',
    Type.Union([Type.String({ minLength: 1, maxLength: 9 }), Type.Null()]),
    '',
    'a string of 1 to 9 characters or null',
  ],
  ['an upper limit', Type.Union([Type.Number({ maximum: 3 }), Type.Null()]), 4, 'a number of at most 3 or null'],
  [
    'an example',
    Type.Union([Type.String({ pattern: '^[a-z]+$' }), Type.Null()], { examples: ['en'] }),
    5,
    'a string such as en or null',
  ],
  ['a day', Type.Union([Type.String({ format: 'date' }), Type.Null()]), 'x', 'a day, such as 2024-03-01 or null'],
  [
    'a list or an object',
    Type.Union([Type.Array(Type.String()), Type.Object({ a: Type.String() })]),
    'x',
    'an array or an object',
  ],
  [
    'what nobody is told of',
    Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: '^[0-9]+$', 'x-words': false })]),
    'x',
    'a number of at least 0',
  ],
]

test('for alternatives, everything that is allowed is listed in words', () => {
  for (const [what, schema, value, rule] of ALTERNATIVES) {
    assert.deepEqual(told(schema, value), { '': `must be ${rule}` }, what)
    assert.deepEqual(told(Type.Object({ list: Type.Array(schema) }), { list: [value] }), {
      'list.0': `must be ${rule}`,
    })
    assert.deepEqual(told(Type.Record(Type.String(), schema), { 'a/b': value }), { 'a/b': `must be ${rule}` })
  }
})

test('a value with the form of one alternative gets the errors of that alternative', () => {
  const Named = Type.Object({ kind: Type.Literal('named'), name: Type.String() })
  const Sized = Type.Object({ kind: Type.Literal('sized'), size: Type.Union([Size, Type.Null()]), unit: Type.String() })
  const Thing = Type.Union([Type.Null(), Named, Sized])

  assert.deepEqual(told(Thing, { kind: 'named' }), { name: 'is required' })
  assert.deepEqual(told(Thing, { kind: 'sized', size: 1, unit: 'm' }), {
    size: 'must be an integer from 144 to 4320 or null',
  })
  assert.deepEqual(told(Type.Array(Thing), [null, 7]), { 1: 'must be null or an object' })
})

test('every wrong alternative is reported, however many there are', () => {
  const Flags = Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Null(), Type.Literal('auto')]))

  const rules = told(Flags, Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`f${at}`, at])))

  assert.ok(Object.keys(rules).length >= 2)
  for (const rule of Object.values(rules)) assert.equal(rule, 'must be true, false, null or "auto"')
})

test('a large value is invalid wherever its fault is', () => {
  const Lists = Type.Record(Type.String(), Type.Array(Type.Integer()))
  const list = Array.from({ length: 3000 }, (_each, at) => at)
  const wrong = { a: [...list, 'b'] }

  assert.deepEqual(told(Lists, { a: list }), {})
  assert.deepEqual(told(Lists, wrong), { '': 'has the wrong form' })
  assert.deepEqual(told(Type.Object({ in: Lists }), { in: wrong }), { in: 'has the wrong form' })
  assert.equal(firstFaultIn(Lists, wrong)?.[0], '')
})

test('no error has the wording of the validation package', () => {
  const rules = [
    told(Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a']),
    told(Type.Integer({ multipleOf: 5 }), 3),
    told(Type.Object({}, { minProperties: 1 }), {}),
    told(Type.Number({ exclusiveMinimum: 0 }), 0),
    told(Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false }), { b: 1 }),
  ].map((faults) => Object.values(faults)[0])

  const unknown = 'has the wrong form'
  assert.deepEqual(rules, ['must not have the same entry twice', unknown, unknown, unknown, 'is unknown'])
})

test('requests, preferences and schedules report alternatives in the same way', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')

  const said = async (path: string, body: object) => {
    const reply = await admin.post(path, body)
    assert.equal(reply.status, 400, path)
    return reply.body
  }
  for (const position of [-5, 'soon', null, []])
    assert.equal(
      (await said('/api/video/v1/progress/', { position })).message,
      'position must be a number of at least 0',
    )
  const take = await said('/api/channel/', { data: [{ channel_id: 'UC1', channel_subscribed: true, take: 'some' }] })
  assert.deepEqual(take.fields, { 'data.0.take': 'must be "new", "all" or an integer from 1 to 1000000' })
  const config = await said('/api/config/', { downloads: { quality_height: 'x', quality_language: 5 } })
  assert.deepEqual(config.fields, {
    'downloads.quality_height': 'must be an integer from 144 to 4320 or false',
    'downloads.quality_language': 'must be a string such as en or false',
  })
  const schedule = await said('/api/schedule/', { task_name: 'check_reindex', schedule: 'auto', config: { days: 0 } })
  assert.deepEqual(schedule.fields, { 'config.days': 'must be at least 1' })
})
