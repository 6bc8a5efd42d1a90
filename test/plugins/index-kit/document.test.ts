/** Checks of documents against their mapping. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applyChange,
  fieldPlans,
  type JsonObject,
  joinInternal,
  splitInternal,
  valuesOf,
} from '../../../plugins/index-kit/document.ts'

const plans = fieldPlans({
  name: { type: 'keyword', filter: true },
  count: { type: 'long', filter: true },
  tags: { type: 'keyword', multi: true },
  parts: { type: 'keyword', path: 'list.part.id', multi: true },
  secret: { type: 'keyword', path: 'deep.secret', internal: true },
  hidden: { type: 'long', internal: true },
})
const plan = (name: string) => plans.find((one) => one.name === name)!

test('values are found through objects and lists; null and missing count as none', () => {
  const doc: JsonObject = {
    tags: ['a', null, 'b'],
    list: [{ part: { id: 'x' } }, {}, { part: [{ id: 'y' }, { id: 'z' }] }],
    count: null,
  }
  assert.deepEqual(valuesOf(plan('tags'), doc), ['a', 'b'])
  assert.deepEqual(valuesOf(plan('parts'), doc), ['x', 'y', 'z'])
  assert.deepEqual(valuesOf(plan('count'), doc), [])
  assert.deepEqual(valuesOf(plan('name'), doc), [])
})

test('values of another type are refused, each with the expected type', () => {
  const cases: Array<[string, object, RegExp]> = [
    ['count', { count: 1.5 }, /count must be a whole number/],
    ['count', { count: '1' }, /count must be a whole number/],
    ['count', { count: { of: 1 } }, /count must be a whole number/],
    ['name', { name: ['a', 'b'] }, /name must be one value, not 2/],
    ['tags', { tags: ['a', 1] }, /tags must be text/],
  ]
  for (const [name, doc, message] of cases) assert.throws(() => valuesOf(plan(name), doc as never), message)
})

test('properties inherited from Object are no values', () => {
  const inherited = fieldPlans({ it: { type: 'keyword', path: 'constructor.name' } })
  assert.deepEqual(valuesOf(inherited[0]!, {}), [])
})

test('internal values are separated from the reply and joined again, without changing the document', () => {
  const doc = Object.freeze({ name: 'a', deep: Object.freeze({ secret: 's', open: 'o' }), hidden: 3 })
  const { reply, internal } = splitInternal(plans, doc)
  assert.deepEqual(
    [reply, internal],
    [
      { name: 'a', deep: { open: 'o' } },
      { 'deep.secret': 's', hidden: 3 },
    ],
  )
  assert.deepEqual(joinInternal(reply, internal), doc)
  assert.deepEqual(joinInternal({ name: 'b' }, { 'deep.secret': 's' }), { name: 'b', deep: { secret: 's' } })
})

test('a patch cannot change the prototype of objects', () => {
  const doc = applyChange(plans, [], JSON.parse('{"name":"a"}'), {
    set: JSON.parse('{"__proto__":{"polluted":true},"deep":{"__proto__":{"polluted":true}}}'),
  })
  assert.equal((doc as { polluted?: boolean }).polluted, undefined)
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('adding or removing values in a single-valued field is refused', () => {
  assert.throws(
    () => applyChange(plans, [], { name: 'a' }, { add: { name: ['b'] } }),
    /name must be a field of several values/,
  )
})
