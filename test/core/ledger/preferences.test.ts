import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import {
  joinSections,
  openPreferences,
  type PreferenceSections,
  type PreferenceValues,
} from '../../../core/ledger/preferences.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { testClock } from '../../support/clock.ts'

const Count = (count?: number) => Type.Integer({ minimum: 0, ...(count !== undefined && { default: count }) })
const sections: PreferenceSections = {
  pace: {
    size: Count(50),
    limit: Type.Union([Type.Literal(false), Count()], { default: false }),
  },
  look: { words: Type.Array(Type.String(), { default: ['a'] }) },
}
type Section = keyof PreferenceValues & string

async function aLedger(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'archivolt-'))
  const ledger = await openLedger({ file: join(folder, 'ledger.sqlite'), log: openLog('silent'), clock: testClock() })
  t.after(async () => {
    await ledger.close()
    rmSync(folder, { recursive: true })
  })
  return ledger
}

test('sections have their defaults, and store changes', async (t) => {
  const ledger = await aLedger(t)
  const preferences = openPreferences({ ledger, sections })
  let heard = 0
  preferences.watch(() => heard++)
  assert.deepEqual(preferences.all(), { pace: { size: 50, limit: false }, look: { words: ['a'] } })

  await preferences.change({ pace: { limit: 9 }, look: { words: [] } })

  const expected = { pace: { size: 50, limit: 9 }, look: { words: [] } }
  assert.deepEqual(preferences.all(), expected)
  assert.equal(heard, 1)
  assert.deepEqual(openPreferences({ ledger, sections }).all(), expected, 'also after a restart')
})

test('the object of a section is immutable', async (t) => {
  const preferences = openPreferences({ ledger: await aLedger(t), sections })
  const section = preferences.section('look' as Section) as unknown as { words: string[] }

  assert.throws(() => section.words.push('b'), TypeError)
  preferences.all().look!.words = 'mine'
  assert.deepEqual(preferences.all().look, { words: ['a'] })
})

test('a change is all or nothing, and every error is reported', async (t) => {
  const preferences = openPreferences({ ledger: await aLedger(t), sections })
  const refused: Array<[Record<string, unknown>, string[]]> = [
    [{ pace: { size: 1, limit: -1 } }, ['pace.limit']],
    [{ pace: { size: '1' }, look: { words: [1] } }, ['look.words.0', 'pace.size']],
    [{ pace: { size: 1, colour: 'red' } }, ['pace.colour']],
    [{ pace: { size: 1 }, other: { x: 1 } }, ['other']],
    [{ pace: 3 }, ['pace']],
    [{ pace: null }, ['pace']],
    [JSON.parse('{"pace": {"__proto__": 1, "size": 2}}') as Record<string, unknown>, ['pace.__proto__']],
    [{ toString: { x: 1 } }, ['toString']],
  ]
  for (const [changes, places] of refused) {
    await assert.rejects(preferences.change(changes), (error: { code: string; details: { fields: object } }) => {
      assert.equal(error.code, 'bad_request')
      assert.deepEqual(Object.keys(error.details.fields).sort(), places)
      return true
    })
  }
  assert.deepEqual(preferences.all(), { pace: { size: 50, limit: false }, look: { words: ['a'] } })
})

test('a stored value that is no longer valid is replaced by the default; one of a missing plugin is kept', async (t) => {
  const ledger = await aLedger(t)
  await openPreferences({ ledger, sections }).change({ pace: { size: 7 }, look: { words: ['b'] } })

  const narrower = { pace: { size: Type.Integer({ minimum: 10, default: 20 }) } }
  assert.deepEqual(openPreferences({ ledger, sections: narrower }).all(), { pace: { size: 20 } })
  assert.deepEqual(openPreferences({ ledger, sections }).all().look, { words: ['b'] })
})

test('two plugins may declare keys of one section, but not the same key', () => {
  const size = Count(1)
  assert.deepEqual(
    Object.keys(
      joinSections([
        { plugin: 'a', sections: { pace: { size } } },
        { plugin: 'b', sections: { pace: { limit: size } } },
      ]).pace ?? {},
    ),
    ['size', 'limit'],
  )
  assert.throws(
    () =>
      joinSections([
        { plugin: 'a', sections: { pace: { size } } },
        { plugin: 'b', sections: { pace: { size } } },
      ]),
    /the plugins a and b both.*pace\.size/,
  )
  assert.throws(() => joinSections([{ plugin: 'a', sections: { pace: { size: Count(-1) } } }]), /pace\.size/)
})

test('an error says what the value must be, for all kinds of values', async (t) => {
  const schema = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal(false), Type.Enum(['user', 'auto'])], {
    default: false,
  })
  const preferences = openPreferences({
    ledger: await aLedger(t),
    sections: { pace: { size: schema } },
  })

  await assert.rejects(preferences.change({ pace: { size: 'x' } }), {
    message: 'pace.size: must be an integer of at least 1, false, "user" or "auto"',
  })
})

test('a plugin checks what no schema can express, before the change and only for new values', async (t) => {
  const preferences = openPreferences({ ledger: await aLedger(t), sections })
  const judged: unknown[] = []
  preferences.judge(
    'pace' as Section,
    (async (changed: Record<string, unknown>) => {
      judged.push(changed)
      return changed.size === 13 ? { size: 'is an unlucky number' } : {}
    }) as never,
  )

  await assert.rejects(preferences.change({ pace: { size: 13, limit: 4 } }), {
    message: 'pace.size: is an unlucky number',
  })
  assert.deepEqual(preferences.all().pace, { size: 50, limit: false }, 'all or nothing')
  await preferences.change({ pace: { size: 14 }, look: { words: ['b'] } })
  await preferences.change({ pace: { size: 14 } })

  assert.deepEqual(judged, [{ size: 13, limit: 4 }, { size: 14 }])
})

test('a password in a URL is never shown, and sending back the masked URL changes nothing', async (t) => {
  const way: PreferenceSections = {
    way: { proxy: Type.Union([Type.String(), Type.Literal(false)], { default: false, 'x-secret': true }) },
  }
  const preferences = openPreferences({ ledger: await aLedger(t), sections: way })
  const stored = () => (preferences.section('way' as Section) as unknown as { proxy: string }).proxy

  await preferences.change({ way: { proxy: 'http://me:secret@host:1' } })
  assert.deepEqual(preferences.all(), { way: { proxy: 'http://***@host:1' } })
  await preferences.change(preferences.all())

  assert.equal(stored(), 'http://me:secret@host:1')
})

test('a secret value is sealed, shown only as set or not set, and kept if it is sent back as shown', async (t) => {
  const key = Type.String({ default: '', pattern: '^$|^k-', maxLength: 20, 'x-secret': 'whole' })
  const ledger = await aLedger(t)
  const open = () => openPreferences({ ledger, sections: { tide: { key } } })
  const preferences = open()
  const stored = () => (open().section('tide' as Section) as unknown as { key: string }).key

  assert.deepEqual(preferences.all(), { tide: { key: '' } })
  await assert.rejects(preferences.change({ tide: { key: '***' } }), {
    code: 'bad_request',
    message: /tide\.key: Enter it again: it is only shown as stars/,
  })
  await preferences.change({ tide: { key: 'k-123' } })
  assert.deepEqual(preferences.all(), { tide: { key: '***' } })
  const { value } = ledger.sql<{ value: string }>("SELECT value FROM preferences WHERE section = 'tide'").get()!
  assert.doesNotMatch(value, /k-123/)

  await preferences.change(preferences.all())
  assert.equal(stored(), 'k-123')
  await preferences.change({ tide: { key: '' } })
  assert.deepEqual([stored(), preferences.all()], ['', { tide: { key: '' } }])
})

test('a masked URL with another password’s mask is refused, and the stored password is kept', async (t) => {
  const way: PreferenceSections = {
    way: {
      proxy: Type.Union([Type.String(), Type.Literal(false)], { default: false, 'x-secret': true }),
      plain: Type.String({ default: '' }),
    },
  }
  const preferences = openPreferences({ ledger: await aLedger(t), sections: way })
  const stored = () => preferences.section('way' as Section) as unknown as { proxy: string; plain: string }
  const refused = { code: 'bad_request', message: /way\.proxy: Enter the name and password again/ }

  await assert.rejects(preferences.change({ way: { proxy: 'http://***@host:1' } }), refused)
  assert.equal(stored().proxy, false)
  await preferences.change({ way: { proxy: 'http://me:se@cret@host:1', plain: 'http://***@host:1' } })
  await assert.rejects(preferences.change({ way: { proxy: 'http://***@other:1', plain: '' } }), refused)

  assert.deepEqual(stored(), { proxy: 'http://me:se@cret@host:1', plain: 'http://***@host:1' })
  assert.equal((preferences.all()['way'] as { proxy: string }).proxy, 'http://***@host:1')
})
