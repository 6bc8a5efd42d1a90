/** What every index adapter must do; index.test.ts and index-elastic.test.ts run it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Static, Type } from 'typebox'
import { isAppError } from '../../core/base/error.ts'
import type { OnGarbled } from '../../core/index/garbled.ts'
import { defineIndex, type IndexDefinition } from '../../core/index/mapping.ts'
import { type Collection, type Filter, type IndexAdapter, STAMP, type TextQuery } from '../../core/index/port.ts'

/** A collection with one field of each kind. */
export const Paper = Type.Object({
  title: Type.String(),
  topics: Type.Optional(Type.Array(Type.String())),
  kind: Type.Optional(Type.String()),
  isRead: Type.Optional(Type.Boolean()),
  pages: Type.Optional(Type.Integer()),
  price: Type.Optional(Type.Number()),
  addedAt: Type.Optional(Type.Integer()),
  about: Type.Optional(Type.Object({ language: Type.Optional(Type.String()), isNew: Type.Optional(Type.Boolean()) })),
  authors: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
  shelf: Type.Optional(Type.String()),
  last: Type.Optional(Type.Object({ note: Type.Optional(Type.String()) })),
})

export const paperIndex = defineIndex({
  name: 'paper',
  doc: Paper,
  newest: 'addedAt',
  fields: {
    title: { type: 'text', search: 2, sort: true, parts: true },
    topics: { type: 'keyword', multi: true, filter: true, search: 1 },
    kind: { type: 'keyword', filter: true, sort: true },
    isRead: { type: 'boolean', filter: true },
    pages: { type: 'long', filter: true, sort: true },
    price: { type: 'double', filter: true, sort: true },
    addedAt: { type: 'date', filter: true, sort: true },
    language: { type: 'keyword', path: 'about.language', filter: true },
    isNew: { type: 'boolean', path: 'about.isNew', filter: true },
    author: { type: 'keyword', path: 'authors.name', multi: true, filter: true },
    shelf: { type: 'keyword', filter: true, internal: true },
  },
  lists: [
    ['kind', 'pages'],
    ['isRead', 'addedAt', 'pages asc'],
  ],
  covers: [['kind', 'isRead', 'pages']],
})
export type PaperDoc = Static<typeof Paper>
type Names = keyof typeof paperIndex.fields & string
export type Papers = Collection<PaperDoc, Names>

/** Lines of speech: found by any word, without common words, never stemmed in `raw`. */
export const lineIndex = defineIndex({
  name: 'line',
  doc: Type.Object({ text: Type.String(), raw: Type.Optional(Type.String()), saidAt: Type.Integer() }),
  newest: 'saidAt',
  fields: {
    text: { type: 'text', search: 1 },
    raw: { type: 'text', search: 1, stem: false },
    saidAt: { type: 'date', filter: true, sort: true },
  },
})

/** Replies insert text into the last object. */
export const splicedIndex = defineIndex({
  name: 'spliced',
  doc: Type.Object({
    title: Type.String(),
    end: Type.Object({ note: Type.Optional(Type.String()) }),
    more: Type.Optional(Type.Integer()),
    secret: Type.Optional(Type.String()),
  }),
  fields: { title: { type: 'text', search: 1 }, secret: { type: 'keyword', filter: true, internal: true } },
  lastKey: 'end',
})

/** Documents with many values in one field, for lists of those with or without a value; other documents show them. */
export const letterIndex = defineIndex({
  name: 'letter',
  joined: true,
  doc: Type.Object({ sentAt: Type.Integer(), readers: Type.Optional(Type.Array(Type.String())) }),
  newest: 'sentAt',
  fields: {
    sentAt: { type: 'date', filter: true, sort: true },
    readers: { type: 'keyword', multi: true, filter: true, internal: true },
  },
  lists: [['readers', 'sentAt']],
})

export interface IndexUnderTest {
  /**
   * Opens the same documents each time.
   * @param definitions  default: all that it was prepared with
   */
  open(onGarbled: OnGarbled, definitions?: readonly IndexDefinition[]): Promise<IndexAdapter>
  /** Changes a letter of the stored text, which makes it invalid JSON. Absent if documents are not stored as text. */
  garble?(collection: string, id: string): Promise<void>
  /** Removes its data after it is closed. */
  remove(): Promise<void>
}

/** @param prepare  creates an empty index */
export function indexContract(
  adapter: string,
  prepare: (definitions: readonly IndexDefinition[]) => Promise<IndexUnderTest>,
  options: { skip?: string | false } = {},
): void {
  describe(`the index on ${adapter}`, { skip: options.skip }, () => {
    let held: IndexUnderTest
    let index: IndexAdapter
    let papers: Papers
    const garbled: string[] = []
    const onGarbled: OnGarbled = (collection, id) => void garbled.push(`${collection} ${id}`)

    before(async () => {
      held = await prepare([paperIndex, lineIndex, splicedIndex, letterIndex])
      index = await held.open(onGarbled)
    })
    after(async () => {
      await index.close()
      await held.remove()
    })

    /** All tests share an index, which is emptied, because opening one takes longer than any of them. */
    const given = async (docs: Record<string, PaperDoc> = {}): Promise<void> => {
      papers = index.collection(paperIndex)
      await papers.removeWhere({ and: [] })
      await index.collection(lineIndex).removeWhere({ and: [] })
      await index.collection(splicedIndex).removeWhere({ and: [] })
      await papers.putMany(Object.entries(docs).map(([id, doc]) => ({ id, doc })))
      await index.refresh()
    }
    const found = async (words: string, more: Partial<TextQuery<Names>> = {}): Promise<string[]> =>
      (await papers.find({ text: { words, prefixLast: true, ...more }, size: 50 })).hits.map((hit) => hit.id)
    const filtered = async (filter: Filter<Names>): Promise<string[]> =>
      (await papers.find({ filter, size: 50 })).hits.map((hit) => hit.id).sort()

    describe('documents', () => {
      test('a document is read as it was put, with its keys in order', async () => {
        await given()
        const doc = {
          title: 'Ünïcode "quoted"',
          pages: 3,
          about: { language: 'de' },
          topics: ['b', 'a'],
          last: { note: 'x' },
        }
        await papers.put('p1', doc, { visible: true })
        assert.deepEqual(await papers.get('p1'), doc)
        assert.equal(await papers.getText('p1'), JSON.stringify(doc))
      })

      test('a damaged document is left out of every read and change, reported, and can be replaced', async (t) => {
        if (!held.garble) return t.skip(`${adapter} does not store documents as text`)
        const paper = (title: string, pages: number): PaperDoc => ({ title, kind: 'essay', shelf: 'cellar', pages })
        await given({ p1: paper('One', 1), p2: paper('Two', 2), p3: paper('Three', 3) })
        const essays: Filter<Names> = { eq: ['kind', 'essay'] }
        const scanned: string[] = []
        await held.garble('paper', 'p2')

        assert.equal(await papers.get('p2'), undefined)
        assert.equal(await papers.getText('p2'), undefined)
        assert.deepEqual([...(await papers.getTexts(['p1', 'p2'])).keys()], ['p1'])
        assert.deepEqual([...(await papers.getMany(['p2', 'p3'])).keys()], ['p3'])
        assert.deepEqual(await filtered(essays), ['p1', 'p3'])
        assert.deepEqual(await found('two'), [])
        for await (const batch of papers.scan()) scanned.push(...batch.map(({ id }) => id))
        assert.deepEqual(scanned.sort(), ['p1', 'p3'])
        assert.equal(await papers.patch('p2', { set: { pages: 9 } }), false)
        await papers.patchWhere(essays, { set: { isRead: true } })
        assert.equal((await papers.get('p3'))?.isRead, true)
        assert.deepEqual(await papers.known(['p1', 'p2']), new Set(['p1', 'p2']), 'nothing forgets that it is there')
        assert.deepEqual([...new Set(garbled)], ['paper p2'])

        assert.equal(await papers.create('p2', paper('Two', 4), { visible: true }), true)
        assert.equal(await papers.create('p2', paper('Two', 5), { visible: true }), false)
        assert.equal((await papers.get('p2'))?.pages, 4)
        assert.deepEqual(await filtered(essays), ['p1', 'p2', 'p3'])
        await held.garble('paper', 'p3')
        assert.equal(await papers.remove('p3'), 1)
      })

      test('internal fields are stored and filtered by, and never part of a text', async () => {
        await given({ p1: { title: 'One', shelf: 'cellar', pages: 1 } })
        assert.deepEqual(await papers.get('p1'), { title: 'One', shelf: 'cellar', pages: 1 })
        assert.equal(await papers.getText('p1'), '{"title":"One","pages":1}')
        const { hits } = await papers.find({ filter: { eq: ['shelf', 'cellar'] } })
        assert.deepEqual(hits, [{ id: 'p1', text: '{"title":"One","pages":1}', score: 0 }])
      })

      test('a missing document is undefined, and left out among many', async () => {
        await given({ p1: { title: 'One' }, p2: { title: 'Two' } })
        assert.equal(await papers.get('nothing'), undefined)
        assert.equal(await papers.getText('nothing'), undefined)
        assert.deepEqual([...(await papers.getMany(['p2', 'nothing', 'p1'])).keys()].sort(), ['p1', 'p2'])
        assert.deepEqual(await papers.getTexts(['p2', 'nothing']), new Map([['p2', '{"title":"Two"}']]))
        assert.deepEqual(await papers.known(['p1', 'nothing', 'p2']), new Set(['p1', 'p2']))
      })

      test('embedded texts are those of the last write, however many they are', async () => {
        const letters = index.collection(letterIndex)
        const ids = Array.from({ length: 350 }, (_, at) => `l${at}`)
        const texts = () => letters.getTexts(ids)
        const docs = ids.map((id, at) => ({ id, doc: { sentAt: at } }))
        await letters.putMany(docs, { visible: true })
        for (let time = 0; time < 2; time++)
          assert.deepEqual(await texts(), new Map(docs.map(({ id, doc }) => [id, JSON.stringify(doc)])))

        await letters.patch('l0', { set: { sentAt: 7 } }, { visible: true })
        await letters.remove('l1')

        assert.equal((await texts()).get('l0'), '{"sentAt":7}')
        assert.equal((await texts()).get('l1'), undefined)
        assert.equal((await texts()).size, ids.length - 1)
      })

      test('a second put replaces the document everywhere', async () => {
        await given({ p1: { title: 'Old words', topics: ['red'], kind: 'book', pages: 1 } })
        await papers.put('p1', { title: 'New things', topics: ['blue'], pages: 2 }, { visible: true })
        assert.deepEqual(await papers.get('p1'), { title: 'New things', topics: ['blue'], pages: 2 })
        assert.deepEqual(await found('old'), [])
        assert.deepEqual(await found('things'), ['p1'])
        assert.deepEqual(await filtered({ eq: ['topics', 'red'] }), [])
        assert.deepEqual(await filtered({ eq: ['topics', 'blue'] }), ['p1'])
        assert.deepEqual(await filtered({ exists: 'kind' }), [])
        assert.equal(await papers.count(), 1)
      })

      test('an existing document is not created again, alone and among many', async () => {
        await given({ p1: { title: 'One', pages: 1 } })

        assert.equal(await papers.create('p1', { title: 'Another' }, { visible: true }), false)
        assert.equal(await papers.create('p2', { title: 'Two' }, { visible: true }), true)
        const docs = [
          { id: 'p2', doc: { title: 'Again' } },
          { id: 'p3', doc: { title: 'Three' } },
          { id: 'bad', doc: { title: 'Four', pages: 'many' as never } },
        ]
        const { written, failed, kept } = await papers.putMany(docs, { visible: true, onlyNew: true })

        assert.deepEqual([written, failed.map(({ id }) => id), kept], [1, ['bad'], ['p2']])
        assert.deepEqual(await papers.get('p1'), { title: 'One', pages: 1 })
        assert.deepEqual(await papers.get('p2'), { title: 'Two' })
        assert.deepEqual(await found('another'), [])
        await assert.rejects(
          papers.create('p9', { title: 'One', pages: 'many' as never }),
          (error) => isAppError(error, 'unprocessable') && /p9/.test(error.message),
        )
      })

      test('of many that create one document, one succeeds', async () => {
        await given()

        const created = await Promise.all(
          Array.from({ length: 20 }, (_, at) => papers.create('p1', { title: `By ${at}` }, { visible: true })),
        )

        assert.equal(created.filter(Boolean).length, 1)
        assert.deepEqual(await papers.get('p1'), { title: `By ${created.indexOf(true)}` })
      })

      test('a document with a new date moves in the order and remains one', async () => {
        await given({ p1: { title: 'First', addedAt: 100 }, p2: { title: 'Second', addedAt: 200 } })
        await papers.put('p1', { title: 'First', addedAt: 300 }, { visible: true })
        assert.deepEqual(
          (await papers.find({})).hits.map((hit) => hit.id),
          ['p1', 'p2'],
        )
        assert.deepEqual(await found('first'), ['p1'])
      })

      test('a removal returns the number of existing documents, and they are no longer found', async () => {
        await given({
          p1: { title: 'One word', topics: ['t'] },
          p2: { title: 'Two word' },
          p3: { title: 'Three word' },
        })
        assert.equal(await papers.remove(['p1', 'p2', 'nothing'], { visible: true }), 2)
        assert.equal(await papers.remove('nothing'), 0)
        assert.deepEqual(await found('word'), ['p3'])
        assert.deepEqual(await filtered({ eq: ['topics', 't'] }), [])
        assert.equal(await papers.get('p1'), undefined)
      })

      test('a refused patch names the document and the field', async () => {
        await given({ p9: { title: 'One' } })
        const set = { pages: 'many' as never }
        for (const work of [() => papers.patch('p9', { set }), () => papers.patchWhere({ and: [] }, { set })])
          await assert.rejects(
            work,
            (error) => isAppError(error, 'unprocessable') && /p9/.test(error.message) && /pages/.test(error.message),
          )
        assert.deepEqual(await papers.get('p9'), { title: 'One' })
      })

      test('a field of the wrong type refuses the document and is named with it', async () => {
        await given()
        await assert.rejects(
          papers.put('p9', { title: 'One', pages: 'many' as never }),
          (error) => isAppError(error, 'unprocessable') && /p9/.test(error.message) && /pages/.test(error.message),
        )
        assert.equal(await papers.get('p9'), undefined)
      })

      test('one bad document among many is named, and the others are written', async () => {
        await given()
        const docs = [
          { id: 'good1', doc: { title: 'A' } },
          { id: 'bad1', doc: { title: 'B', isRead: 'yes' as never } },
          { id: 'bad2', doc: { title: 'C', kind: ['two', 'kinds'] as never } },
          { id: 'good2', doc: { title: 'D' } },
        ]
        const done: number[] = []
        const result = await papers.putMany(docs, { visible: true, progress: (count) => done.push(count) })
        assert.equal(result.written, 2)
        assert.deepEqual(
          result.failed.map(({ id }) => id),
          ['bad1', 'bad2'],
        )
        assert.match(result.failed[0]!.reason, /bad1.*isRead/)
        assert.match(result.failed[1]!.reason, /bad2.*kind/)
        assert.deepEqual([...(await papers.known(['good1', 'bad1', 'bad2', 'good2']))].sort(), ['good1', 'good2'])
        assert.equal(done.at(-1), 4)
      })

      test('any text is an id, except for empty, overlong and control characters', async () => {
        const ids = ['{"title":"no"}', 'two words', '_späť/%2f', '日本']
        await given(Object.fromEntries(ids.map((id) => [id, { title: `of ${id}`, pages: 1 }])))
        const { hits } = await papers.find({ sort: [{ by: 'pages', order: 'desc' }], size: 50 })
        assert.deepEqual(
          hits.map(({ id, text }) => [id, JSON.parse(text).title]).sort(),
          ids.map((id) => [id, `of ${id}`]).sort(),
        )
        for (const id of ['', 'line\nfeed', 'nul\0', 'x'.repeat(513)])
          await assert.rejects(
            papers.put(id, { title: 'x' }),
            (error) => isAppError(error, 'unprocessable') && /its id must be/.test(error.message),
          )
      })

      test('a cancelled bulk write stops and says so', async () => {
        await given()
        const stop = new AbortController()
        const docs = Array.from({ length: 1000 }, (_, at) => ({ id: `p${at}`, doc: { title: `Number ${at}` } }))
        const reason = new Error('enough')
        await assert.rejects(papers.putMany(docs, { signal: stop.signal, progress: () => stop.abort(reason) }), reason)
        await index.refresh()
        const written = await papers.count()
        assert.ok(written > 0 && written < 1000, `${written} were written`)
      })
    })

    describe('changes', () => {
      test('a patch merges objects, null removes, anything else replaces', async () => {
        await given({ p1: { title: 'One', about: { language: 'en', isNew: true }, pages: 4, topics: ['a', 'b'] } })
        assert.equal(
          await papers.patch('p1', { set: { about: { isNew: false }, pages: null, topics: ['c'] } }, { visible: true }),
          true,
        )
        assert.deepEqual(await papers.get('p1'), {
          title: 'One',
          about: { language: 'en', isNew: false },
          topics: ['c'],
        })
        assert.deepEqual(await filtered({ eq: ['isNew', false] }), ['p1'])
        assert.deepEqual(await filtered({ exists: 'pages' }), [])
        assert.deepEqual(await filtered({ eq: ['topics', 'a'] }), [])
      })

      test('a patch keeps the order of keys; a new key has its position in the schema', async () => {
        await given({ p1: { title: 'One', pages: 4, last: { note: 'the end' } } })
        await papers.patch('p1', { set: { pages: 5, isRead: true, shelf: 'attic' } }, { visible: true })
        assert.equal(await papers.getText('p1'), '{"title":"One","isRead":true,"pages":5,"last":{"note":"the end"}}')
        assert.equal((await papers.get('p1'))?.shelf, 'attic')
      })

      test('the object that replies insert into is always present and last, however it was written', async () => {
        await given()
        const spliced = index.collection(splicedIndex)
        await spliced.put('s1', { end: { note: 'a' }, title: 'One', secret: 's', more: 1 })
        await spliced.putMany([{ id: 's2', doc: { end: {}, title: 'Two' } }])
        await spliced.patch('s2', { set: { more: 2 } }, { visible: true })

        assert.equal(await spliced.getText('s1'), '{"title":"One","more":1,"end":{"note":"a"}}')
        assert.equal(await spliced.getText('s2'), '{"title":"Two","more":2,"end":{}}')
        assert.deepEqual(await spliced.get('s1'), { title: 'One', more: 1, end: { note: 'a' }, secret: 's' })
        const without = { title: 'Three' } as unknown as { title: string; end: object }
        await assert.rejects(spliced.put('s3', without), /end must be an object or a list/)
        await assert.rejects(spliced.patch('s1', { set: { end: null } as never }), /end must be an object or a list/)
        const { written, failed } = await spliced.putMany([{ id: 's3', doc: without }])
        assert.deepEqual([written, failed.map(({ id }) => id)], [0, ['s3']])
      })

      test('a patch without a value for a key leaves it unchanged, alone and among many', async () => {
        await given({ p1: { title: 'One', pages: 4, about: { language: 'en' } } })
        const set = { kind: 'book', pages: undefined as never, about: { language: undefined as never } }

        await papers.patch('p1', { set }, { visible: true })
        await papers.patchWhere({ eq: ['kind', 'book'] }, { set })

        assert.deepEqual(await papers.get('p1'), { title: 'One', kind: 'book', pages: 4, about: { language: 'en' } })
      })

      test('values are added once and removed', async () => {
        await given({ p1: { title: 'One', topics: ['a', 'b'] }, p2: { title: 'Two' } })
        await papers.patch('p1', { add: { topics: ['b', 'c', 'c'] }, remove: { topics: ['a'] } })
        await papers.patch('p2', { add: { topics: ['z'] } }, { visible: true })
        assert.deepEqual((await papers.get('p1'))?.topics, ['b', 'c'])
        assert.deepEqual((await papers.get('p2'))?.topics, ['z'])
        assert.deepEqual(await filtered({ in: ['topics', ['c', 'z']] }), ['p1', 'p2'])
      })

      test('a patch of a missing document changes nothing and says so', async () => {
        await given()
        assert.equal(await papers.patch('nothing', { set: { title: 'x' } }), false)
        assert.equal(await papers.count(), 0)
      })

      test('patchWhere changes all matches once, even if they no longer match afterwards', async () => {
        const docs = Object.fromEntries(
          Array.from({ length: 350 }, (_, at) => [`p${at}`, { title: `Number ${at}`, isRead: at % 2 === 0 }]),
        )
        await given(docs)
        const done: number[] = []
        const matched = await papers.patchWhere(
          { eq: ['isRead', false] },
          { set: { isRead: true, kind: 'seen' } },
          { visible: true, progress: (count) => done.push(count) },
        )
        assert.equal(matched, 175)
        assert.equal(done.at(-1), 175)
        assert.equal(await papers.count({ eq: ['isRead', true] }), 350)
        assert.equal(await papers.count({ eq: ['kind', 'seen'] }), 175)
        assert.equal(await papers.patchWhere({ eq: ['isRead', false] }, { set: { kind: 'x' } }), 0)
      })

      test('removeWhere removes all matches and nothing else', async () => {
        const docs = Object.fromEntries(
          Array.from({ length: 350 }, (_, at) => [
            `p${at}`,
            { title: `Number ${at}`, kind: at % 3 === 0 ? 'old' : 'new' },
          ]),
        )
        await given(docs)
        assert.equal(await papers.removeWhere({ eq: ['kind', 'old'] }, { visible: true }), 117)
        assert.equal(await papers.count(), 233)
        assert.equal(await papers.count({ eq: ['kind', 'old'] }), 0)
      })

      test('two simultaneous patches both count', async () => {
        await given({ p1: { title: 'One' } })
        await Promise.all([
          papers.patch('p1', { set: { pages: 7 } }),
          papers.patch('p1', { set: { kind: 'book' } }),
          papers.patch('p1', { add: { topics: ['t'] } }),
        ])
        assert.deepEqual(await papers.get('p1'), { title: 'One', topics: ['t'], kind: 'book', pages: 7 })
      })
    })

    describe('filters', () => {
      const shelf: Record<string, PaperDoc> = {
        p1: {
          title: 'One',
          kind: 'book',
          pages: 10,
          price: 1.5,
          isRead: true,
          topics: ['red', 'blue'],
          about: { language: 'en' },
          authors: [{ name: 'Ann' }, { name: 'Bob' }],
        },
        p2: {
          title: 'Two',
          kind: 'map',
          pages: 20,
          price: 2.5,
          isRead: false,
          topics: ['blue'],
          about: { language: 'de' },
          authors: [{ name: 'Bob' }],
        },
        p3: { title: 'Three', kind: 'book', pages: 30, topics: [] },
      }
      const cases: Array<[string, Filter<Names>, string[]]> = [
        ['eq on a keyword', { eq: ['kind', 'book'] }, ['p1', 'p3']],
        ['eq on a keyword is exact', { eq: ['kind', 'Book'] }, []],
        ['eq on a flag', { eq: ['isRead', false] }, ['p2']],
        ['eq on a number', { eq: ['price', 2.5] }, ['p2']],
        ['eq on one of several values', { eq: ['topics', 'blue'] }, ['p1', 'p2']],
        ['eq through objects', { eq: ['language', 'de'] }, ['p2']],
        ['eq through a list of objects', { eq: ['author', 'Bob'] }, ['p1', 'p2']],
        ['in', { in: ['kind', ['map', 'film']] }, ['p2']],
        ['in nothing', { in: ['kind', []] }, []],
        ['in, several values', { in: ['topics', ['red', 'green']] }, ['p1']],
        ['range with both ends', { range: ['pages', { gte: 10, lt: 30 }] }, ['p1', 'p2']],
        ['range, open', { range: ['pages', { gt: 10 }] }, ['p2', 'p3']],
        ['range of texts', { range: ['kind', { gt: 'book', lte: 'map' }] }, ['p2']],
        ['exists', { exists: 'price' }, ['p1', 'p2']],
        ['exists, several values: an empty list is none', { exists: 'topics' }, ['p1', 'p2']],
        ['prefix', { prefix: ['kind', 'bo'] }, ['p1', 'p3']],
        ['prefix, several values', { prefix: ['topics', 're'] }, ['p1']],
        ['not takes in what has no value', { not: { eq: ['isRead', true] } }, ['p2', 'p3']],
        ['not, several values', { not: { eq: ['topics', 'red'] } }, ['p2', 'p3']],
        ['and', { and: [{ eq: ['kind', 'book'] }, { exists: 'price' }] }, ['p1']],
        ['and of nothing is everything', { and: [] }, ['p1', 'p2', 'p3']],
        ['or', { or: [{ eq: ['kind', 'map'] }, { range: ['pages', { gte: 30 }] }] }, ['p2', 'p3']],
        ['or of nothing is nothing', { or: [] }, []],
        [
          'nested',
          { and: [{ not: { or: [{ eq: ['kind', 'map'] }, { eq: ['topics', 'red'] }] } }, { exists: 'pages' }] },
          ['p3'],
        ],
        ['a value with quotes is a value', { eq: ['kind', `' OR 1=1 --"`] }, []],
      ]
      test('each kind of filter finds what it describes', async () => {
        await given(shelf)
        for (const [name, filter, expected] of cases) {
          assert.deepEqual(await filtered(filter), expected, name)
          assert.equal(await papers.count(filter), expected.length, `count: ${name}`)
          assert.equal((await papers.find({ filter })).total, expected.length, `total: ${name}`)
        }
      })

      test('a filter may consist of more than a thousand conditions', async () => {
        await given(shelf)
        const many = (toFilter: (value: string) => Filter<Names>) =>
          Array.from({ length: 1200 }, (_, at) => toFilter(`value ${at}`))
        const kinds = many((kind) => ({ eq: ['kind', kind] }))
        const topics = many((topic) => ({ not: { eq: ['topics', topic] } }))

        assert.deepEqual(await filtered({ or: [...kinds, { eq: ['kind', 'map'] }] }), ['p2'])
        assert.deepEqual(await filtered({ and: [...topics, { eq: ['kind', 'book'] }] }), ['p1', 'p3'])
      })

      test('an undeclared field is refused by name', async () => {
        await given(shelf)
        await assert.rejects(papers.find({ filter: { eq: ['title', 'One'] } }), /title/)
        await assert.rejects(papers.find({ sort: [{ by: 'topics', order: 'asc' }] }), /topics/)
      })
    })

    describe('lists', () => {
      const order = async (sort: NonNullable<Parameters<Papers['find']>[0]['sort']>): Promise<string[]> =>
        (await papers.find({ sort, size: 50 })).hits.map((hit) => hit.id)

      test('sorted by one field, equal ones by id, documents without a value last', async () => {
        await given({
          b: { title: 'x', pages: 2 },
          a: { title: 'x', pages: 2 },
          c: { title: 'x', pages: 9 },
          d: { title: 'x' },
        })
        assert.deepEqual(await order([{ by: 'pages', order: 'desc' }]), ['c', 'a', 'b', 'd'])
        assert.deepEqual(await order([{ by: 'pages', order: 'asc' }]), ['a', 'b', 'c', 'd'])
      })

      test('texts and keywords are sorted regardless of case and diacritics', async () => {
        await given({ 1: { title: 'zebra' }, 2: { title: 'Éclair' }, 3: { title: 'apple' }, 4: { title: 'Banana' } })
        assert.deepEqual(await order([{ by: 'title', order: 'asc' }]), ['3', '4', '2', '1'])
        assert.deepEqual(await order([{ by: 'title', order: 'desc' }]), ['1', '2', '4', '3'])
      })

      test('sorted by several fields', async () => {
        await given({
          a: { title: 'x', kind: 'map', pages: 1 },
          b: { title: 'x', kind: 'book', pages: 1 },
          c: { title: 'x', kind: 'book', pages: 5 },
        })
        assert.deepEqual(
          await order([
            { by: 'kind', order: 'asc' },
            { by: 'pages', order: 'desc' },
          ]),
          ['c', 'b', 'a'],
        )
      })

      test('without an order the newest come first', async () => {
        await given({ a: { title: 'x', addedAt: 5 }, b: { title: 'x', addedAt: 7 }, c: { title: 'x', addedAt: 6 } })
        assert.deepEqual(
          (await papers.find({})).hits.map((hit) => hit.id),
          ['b', 'c', 'a'],
        )
      })

      test('pages are stable: together they are the complete list, each document once', async () => {
        const docs = Object.fromEntries(
          Array.from({ length: 95 }, (_, at) => [
            `p${at}`,
            { title: 'same words', pages: at % 4, kind: 'book', addedAt: at % 3 },
          ]),
        )
        await given(docs)
        for (const query of [
          {},
          { sort: [{ by: 'pages', order: 'asc' }] },
          { filter: { eq: ['kind', 'book'] }, sort: [{ by: 'pages', order: 'desc' }] },
          { text: { words: 'same' } },
        ] as const) {
          const seen: string[] = []
          for (let from = 0; from < 100; from += 10) {
            const page = await papers.find({ ...query, from, size: 10 } as Parameters<Papers['find']>[0])
            assert.equal(page.total, 95)
            seen.push(...page.hits.map((hit) => hit.id))
          }
          assert.equal(seen.length, 95)
          assert.equal(new Set(seen).size, 95)
        }
      })

      test('a list by ids keeps their order, filtered and paged, without unknown ids', async () => {
        await given({
          a: { title: 'x', kind: 'book' },
          b: { title: 'x', kind: 'map' },
          c: { title: 'x', kind: 'book' },
          d: { title: 'x', kind: 'book' },
        })
        const ids = ['d', 'nothing', 'b', 'a', 'c']
        assert.deepEqual(
          (await papers.find({ ids })).hits.map((hit) => hit.id),
          ['d', 'b', 'a', 'c'],
        )
        const page = await papers.find({ ids, filter: { eq: ['kind', 'book'] }, from: 1, size: 1 })
        assert.deepEqual([page.hits.map((hit) => hit.id), page.total], [['a'], 3])
        assert.deepEqual(await papers.find({ ids: [] }), { hits: [], total: 0 })
      })

      test('a total ends at ten thousand, a count may be larger', async () => {
        await given()
        await papers.putMany(
          Array.from({ length: 10_050 }, (_, at) => ({
            id: `p${at}`,
            doc: {
              title: at === 7 ? 'common needle' : at === 8 ? 'common' : 'common word',
              addedAt: at,
              kind: at < 20 ? 'rare' : 'usual',
            },
          })),
        )
        await index.refresh()
        assert.equal((await papers.find({ size: 1 })).total, 10_000)
        assert.equal((await papers.find({ text: { words: 'common' }, size: 1 })).total, 10_000)
        assert.equal(await papers.count(), 10_000)
        assert.equal(await papers.count(undefined, Infinity), 10_050)
        assert.equal(await papers.count(undefined, 7), 7)
        const last = await papers.find({ from: 9_995, size: 5 })
        assert.deepEqual(
          last.hits.map((hit) => hit.id),
          ['p54', 'p53', 'p52', 'p51', 'p50'],
        )
        await assert.rejects(papers.find({ from: 9_999, size: 2 }))
        // A word in every document does not narrow the search: the newest are returned, even after the words are known
        // to be common.
        const newest = ['p10049', 'p10048', 'p10047']
        const shown = async (words: string) =>
          (await papers.find({ text: { words, match: 'all' }, size: 3 })).hits.map((hit) => hit.id)
        for (const words of ['common word', 'common', 'word common', 'word'])
          assert.deepEqual(await shown(words), newest)
        assert.deepEqual(await shown('needle common'), ['p7'])
        assert.deepEqual(await shown('common needle'), ['p7'])
        assert.deepEqual(
          (await papers.find({ text: { words: 'common' }, filter: { eq: ['kind', 'rare'] }, size: 50 })).total,
          20,
        )
      })
    })

    describe('lists of documents with or without a value', () => {
      const reopen = async (): Promise<void> => {
        await index.close()
        index = await held.open(onGarbled)
      }
      type Letter = { sentAt: number; readers?: string[] }
      const MANY = 40
      const readers = [...Array.from({ length: MANY }, (_, number) => `r${number}`), 'nobody']
      const model = new Map<string, Letter>()
      const letters = () => index.collection(letterIndex)
      const put = async (docs: Record<string, Letter>) => {
        for (const [id, doc] of Object.entries(docs)) model.set(id, doc)
        await letters().putMany(
          Object.entries(docs).map(([id, doc]) => ({ id, doc })),
          { visible: true },
        )
      }
      const change = async (id: string, doc: Letter, patch: Parameters<ReturnType<typeof letters>['patch']>[1]) => {
        model.set(id, doc)
        await letters().patch(id, patch, { visible: true })
      }

      /** Checks each page, its total, and the count, for each reader and for one without any marks. */
      async function assertAsModel(what: string): Promise<void> {
        const sorted = [...model].sort(([a, one], [b, other]) => other.sentAt - one.sentAt || (a < b ? -1 : 1))
        for (const reader of readers) {
          for (const has of [true, false]) {
            const eq = { eq: ['readers', reader] } as Filter<'readers'>
            const filter = has ? eq : ({ not: eq } as Filter<'readers'>)
            const expected = sorted.filter(([, doc]) => (doc.readers ?? []).includes(reader) === has).map(([id]) => id)
            const page = await letters().find({ filter, sort: [{ by: 'sentAt', order: 'desc' }], from: 1, size: 5 })
            const told = `${what}: ${has ? '' : 'not '}${reader}`
            assert.deepEqual([page.hits.map(({ id }) => id), page.total], [expected.slice(1, 6), expected.length], told)
            assert.equal(await letters().count(filter), expected.length, told)
            assert.equal(await letters().count(filter, 2), Math.min(2, expected.length), told)
            const up = await letters().find({ filter, sort: [{ by: 'sentAt', order: 'asc' }], size: 50 })
            assert.equal(up.hits.length, expected.length, `${told}, the other way round`)
            const late = { and: [filter, { range: ['sentAt', { gt: 2 }] }] } as Filter<'readers' | 'sentAt'>
            const some = expected.filter((id) => model.get(id)!.sentAt > 2)
            assert.equal(await letters().count(late), some.length, `${told}, late ones`)
          }
        }
      }

      test('follow the documents as these are added, changed and removed', async () => {
        await letters().removeWhere({ and: [] }, { visible: true })
        model.clear()
        await assertAsModel('empty')
        await put(
          Object.fromEntries(
            Array.from({ length: 12 }, (_, at) => [
              `l${at}`,
              { sentAt: at % 5, ...(at % 3 && { readers: ['r1', 'r2'] }) },
            ]),
          ),
        )
        await assertAsModel('some are read')
        await change('l0', { sentAt: 0, readers: ['r1'] }, { add: { readers: ['r1', 'r1'] } })
        await change('l1', { sentAt: 1, readers: ['r2'] }, { remove: { readers: ['r1', 'none'] } })
        await change('l2', { sentAt: 9, readers: ['r1', 'r2'] }, { set: { sentAt: 9 } })
        await put({ l3: { sentAt: 3, readers: ['r3'] }, l4: { sentAt: 4 } })
        await assertAsModel('single ones have changed')
        await letters().patchWhere({ not: { eq: ['readers', 'r2'] } }, { add: { readers: ['r2'] } }, { visible: true })
        for (const [id, doc] of model) model.set(id, { ...doc, readers: [...new Set([...(doc.readers ?? []), 'r2'])] })
        await assertAsModel('one has read all')
        await letters().remove(['l5', 'l6'], { visible: true })
        for (const id of ['l5', 'l6']) model.delete(id)
        await assertAsModel('some are gone')
        await reopen()
        await letters().patchWhere({ and: [] }, { remove: { readers: ['r2'] } }, { visible: true })
        for (const [id, doc] of model)
          model.set(id, { ...doc, readers: (doc.readers ?? []).filter((one) => one !== 'r2') })
        await assertAsModel('a reader has forgotten all')
        await reopen()
        await change('l7', { ...model.get('l7')!, readers: ['r1', 'r2'] }, { add: { readers: ['r2'] } })
        await assertAsModel('and has read one again')
      })

      test('also for more values than are tracked separately', async () => {
        await put(
          Object.fromEntries(
            Array.from({ length: MANY }, (_, at) => [
              `m${at}`,
              { sentAt: 20 + at, readers: readers.slice(at % 7, MANY - at) },
            ]),
          ),
        )
        await assertAsModel('many readers')
        await letters().patchWhere({ and: [] }, { remove: { readers: readers.slice(0, 30) } }, { visible: true })
        const left = (list: string[] = []) => list.filter((one) => readers.indexOf(one) >= 30)
        for (const [id, doc] of model) model.set(id, { ...doc, readers: left(doc.readers) })
        await assertAsModel('most have forgotten all')
        await reopen()
        await change(
          'm1',
          { sentAt: 21, readers: [...left(model.get('m1')!.readers), 'r0', 'r5'] },
          { add: { readers: ['r0', 'r5'] } },
        )
        await assertAsModel('others read again')
      })

      test('and after all documents were replaced', async () => {
        const [...docs] = model
        await index.replaceAll(async (write) => {
          await write(
            'letter',
            docs.map(([id, doc]) => ({ id, doc: { ...doc, sentAt: doc.sentAt + 1 } })),
          )
        })
        await index.refresh()
        for (const [id, doc] of docs) model.set(id, { ...doc, sentAt: doc.sentAt + 1 })
        await assertAsModel('replaced')
      })
    })

    describe('search', () => {
      const titles = (list: string[]): Record<string, PaperDoc> =>
        Object.fromEntries(list.map((title, at) => [`p${at + 1}`, { title, addedAt: at }]))

      test('the last word is a prefix, even if stemming would cut it off', async () => {
        await given(titles(['Running shoes', 'Happiness explained', 'Baking bread', 'Universities of old']))
        const cases = {
          runn: 'p1',
          running: 'p1',
          happine: 'p2',
          baki: 'p3',
          universi: 'p4',
          'bread bak': 'p3',
          'explained h': 'p2',
        }
        for (const [words, id] of Object.entries(cases)) assert.deepEqual(await found(words), [id], words)
        assert.deepEqual(await found('runn', { prefixLast: false }), [])
        assert.deepEqual(await found('runn shoes'), [], 'only the last word')
      })

      test('English inflections match each other', async () => {
        await given(titles(['A kernel', 'Compiling kernels', 'Baked beans']))
        assert.deepEqual((await found('kernels')).sort(), ['p1', 'p2'])
        assert.deepEqual((await found('kernel compiles')).sort(), ['p2'])
        assert.deepEqual(await found('bean baking', { prefixLast: false }), ['p3'])
      })

      test('a field may be excluded from stemming', async () => {
        await given()
        const lines = index.collection(lineIndex)
        await lines.put('l1', { text: 'nothing', raw: 'kernels', saidAt: 1 }, { visible: true })
        assert.equal((await lines.find({ text: { words: 'kernel' } })).total, 0)
        assert.equal((await lines.find({ text: { words: 'kernels' } })).total, 1)
      })

      test('case and diacritics are ignored', async () => {
        await given(titles(['Crème brûlée', 'STRASSE und Straße', 'Ærø Łódź', 'Ἀθῆναι ΣΊΣΥΦΟΣ', 'Ёлка']))
        const cases = {
          'creme brulee': ['p1'],
          CRÈME: ['p1'],
          straße: ['p2'],
          strasse: ['p2'],
          'aero lodz': ['p3'],
          αθηναι: ['p4'],
          σισυφος: ['p4'],
          елка: ['p5'],
        }
        for (const [words, ids] of Object.entries(cases)) assert.deepEqual(await found(words), ids, words)
      })

      test('Chinese, Japanese, Thai and Korean are found by their words', async () => {
        await given(titles(['東京タワーの夜景', '北京大学生活', 'สวัสดีชาวโลก', '한국어 배우기', 'iPhone用ケース']))
        const cases = {
          東京: ['p1'],
          'タワー 夜景': ['p1'],
          北京: ['p2'],
          '生活 北京': ['p2'],
          ชาวโลก: ['p3'],
          한국: ['p4'],
          ケース: ['p5'],
          iphone: ['p5'],
        }
        for (const [words, ids] of Object.entries(cases)) assert.deepEqual(await found(words), ids, words)
        assert.deepEqual(await found('大阪'), [])
      })

      test('a word is found in any Unicode normalization form, and emoji are not words', async () => {
        const list = ['ガンダム 第1話', '葛城へ', '▶\ufe0fGo', '5\ufe0f\u20e3 tips ❤\ufe0f']
        await given(titles([...list, list[0]!.normalize('NFD'), '葛\u{e0100}城へ', 'ｶﾞﾝﾀﾞﾑ']))
        const cases = {
          ガンダム: ['p1', 'p5', 'p7'],
          [list[0]!.normalize('NFD')]: ['p1', 'p5'],
          葛城: ['p2', 'p6'],
          go: ['p3'],
          '5': ['p4'],
          'tips ❤\ufe0f': ['p4'],
          '❤\ufe0f': [],
          '🍞': [],
        }
        for (const [words, ids] of Object.entries(cases)) assert.deepEqual((await found(words)).sort(), ids, words)
      })

      test('every word must match, each in any field', async () => {
        await given({
          p1: { title: 'Garden birds', topics: ['winter'] },
          p2: { title: 'Garden tools', topics: ['summer'] },
          p3: { title: 'Winter coats' },
        })
        assert.deepEqual(await found('garden winter'), ['p1'])
        assert.deepEqual((await found('winter')).sort(), ['p1', 'p3'])
        assert.deepEqual(await found('garden autumn'), [])
      })

      test('a field with a higher weight ranks higher, and fields may be selected', async () => {
        await given({
          a: { title: 'One lamp here', topics: ['other', 'things', 'more'] },
          b: { title: 'Other things more', topics: ['lamp', 'here', 'one'] },
          ...Object.fromEntries(
            Array.from({ length: 20 }, (_, at) => [`x${at}`, { title: `Filler ${at}`, topics: ['none'] }]),
          ),
        })
        assert.deepEqual(await found('lamp'), ['a', 'b'])
        assert.deepEqual(await found('lamp', { fields: { title: 1, topics: 9 } }), ['b', 'a'])
        assert.deepEqual(await found('lamp', { fields: { topics: 1 } }), ['b'])
        await assert.rejects(found('lamp', { fields: { kind: 1 } }), /kind/)
      })

      test('stop words count, and can be dropped', async () => {
        await given(titles(['The Who', 'Who is there', 'A band']))
        assert.deepEqual((await found('the who', { prefixLast: false })).sort(), ['p1'])
        assert.deepEqual((await found('the band', { prefixLast: false, dropStopWords: true })).sort(), ['p3'])
        assert.deepEqual(
          await found('is', { prefixLast: false, dropStopWords: true }),
          ['p2'],
          'nothing else is asked for',
        )
      })

      test('misspelt words are found after all exact ones, with as many edits as their length allows', async () => {
        await given(titles(['Sourdough bread', 'Sourdogh, misspelt', 'Cat pictures', 'Cut flowers', 'Elephant walk']))
        assert.deepEqual(await found('sourdogh', { fuzziness: 'auto' }), ['p2', 'p1'])
        assert.deepEqual(await found('sourdogh'), ['p2'], 'no edits unless asked')
        assert.deepEqual(await found('elefant walk', { fuzziness: 'auto' }), ['p5'], 'two edits from six letters on')
        assert.deepEqual(await found('elefant walk', { fuzziness: 1 }), [], 'one is too few')
        assert.deepEqual(await found('cit flowers', { fuzziness: 'auto' }), ['p4'], 'three letters: one edit')
        assert.deepEqual(await found('ct flowers', { fuzziness: 'auto' }), [], 'two letters: exact')
        assert.deepEqual(await found('cit', { fuzziness: 'auto' }), [], 'the last word only from four letters on')
        assert.deepEqual(await found('brad', { fuzziness: 'auto' }), ['p1'])
        assert.deepEqual(
          await found('pciture', { fuzziness: 'auto', prefixLast: false }),
          ['p3'],
          'two letters that changed places are one edit',
        )
      })

      test('words with fewer edits are found before words with more', async () => {
        await given(titles(['Dining out', 'Running far', 'Dining and wining', 'Running and winning']))

        assert.deepEqual((await found('runing', { fuzziness: 'auto' })).slice(0, 2).sort(), ['p2', 'p4'])
        assert.equal((await found('runing', { fuzziness: 'auto' })).length, 4)
        assert.equal((await found('runing fare', { fuzziness: 'auto', match: 'any' }))[0], 'p2')
      })

      test('the stems of longer words may be misspelt as well', async () => {
        await given(titles(['Proof of work', 'Proofing bread', 'Gun shop', 'Generators', 'Probe']))
        assert.deepEqual((await found('prooves', { fuzziness: 'auto' })).sort(), ['p1', 'p2'], 'proov, proof')
        assert.deepEqual(await found('prooves', { fuzziness: 0 }), [])
        assert.deepEqual(await found('gennerating', { fuzziness: 'auto' }), ['p4'], 'genner, gener')
        assert.deepEqual(await found('running', { fuzziness: 'auto' }), [], 'run is too short to be near gun')
      })

      test('exact hits fill the page before misspelt ones, and the total counts both', async () => {
        const docs = Object.fromEntries([
          ...Array.from({ length: 6 }, (_, at) => [`near${at}`, { title: `grapes ${at}`, addedAt: 50 + at }]),
          ...Array.from({ length: 6 }, (_, at) => [
            `exact${at}`,
            { title: `a long title with more words and grades ${at}`, addedAt: at },
          ]),
        ])
        await given(docs)
        const first = await papers.find({ text: { words: 'grades', fuzziness: 'auto' }, size: 8 })
        assert.deepEqual(
          first.hits.map((hit) => hit.id.replace(/\d/, '')),
          [...Array(6).fill('exact'), 'near', 'near'],
        )
        assert.equal(first.total, 12)
        const second = await papers.find({ text: { words: 'grades', fuzziness: 'auto' }, from: 8, size: 8 })
        assert.equal(second.hits.length, 4)
        assert.ok(first.hits.every((hit, at) => at === 0 || hit.score <= first.hits[at - 1]!.score))
        assert.ok(second.hits.every((hit) => hit.score > 0))
      })

      test('misspelt words find new words at once', async () => {
        await given(titles(['Something']))
        assert.deepEqual(await found('xylophnoe', { fuzziness: 'auto' }), [])
        await papers.put('new', { title: 'Xylophone' }, { visible: true })
        assert.deepEqual(await found('xylophnoe', { fuzziness: 'auto' }), ['new'])
      })

      test('in scripts without spaces words are found within longer runs of characters', async () => {
        await given(
          titles(['如何製作中文字幕教學影片', '東京タワーの夜景', 'สอนทำอาหารไทยง่ายๆ', '中国文明の字', 'ของกาดาแฟน']),
        )
        const cases: Record<string, string[]> = {
          字幕: ['p1'],
          中文: ['p1'],
          中文字幕: ['p1'],
          '影片 教學': ['p1'],
          幕: ['p1'],
          片: ['p1'],
          字: ['p1', 'p4'],
          文字: ['p1'],
          京タワ: ['p2'],
          อาหาร: ['p3'],
          กาแฟ: [],
        }
        for (const [words, ids] of Object.entries(cases))
          assert.deepEqual((await found(words, { prefixLast: false })).sort(), ids, words)
      })

      test('words with punctuation are found with and without it', async () => {
        await given(
          titles([
            'The T.N.T. film',
            'AC/DC live',
            'TNT and ACDC',
            'Modern C++',
            'C# in depth',
            'C major',
            'An e-mail',
          ]),
        )
        const cases: Record<string, string[]> = {
          TNT: ['p1', 'p3'],
          'T.N.T.': ['p1', 'p3'],
          't.n.t': ['p1', 'p3'],
          acdc: ['p2', 'p3'],
          'AC/DC': ['p2', 'p3'],
          'c++': ['p4'],
          'C#': ['p5'],
          c: ['p4', 'p5', 'p6'],
          email: ['p7'],
          'e-mail': ['p7'],
        }
        for (const [words, ids] of Object.entries(cases))
          assert.deepEqual((await found(words, { prefixLast: false })).sort(), ids, words)
      })

      test('titles of symbols alone are found by them', async () => {
        const signs = ['?!', '***', '$', '!!!', '+/-', '🌊🌊', '"', '\\*', '（＾_＾）', '❤\ufe0f', "'; --"]
        await given(titles(signs))
        for (const [at, title] of signs.entries())
          assert.deepEqual(await found(title, { prefixLast: false }), [`p${at + 1}`], title)
        assert.deepEqual(await found('🌊'), ['p6'], 'as they begin')
        assert.deepEqual(await found('why?!'), [])
      })

      test('query syntax is treated as text', async () => {
        await given(
          titles(['AND OR NOT', 'Near the column: a "quoted" (thing)*', '12:30 to 13:00', 'C++ & C#', 'title plain']),
        )
        const cases: Record<string, string[]> = {
          'AND OR': ['p1'],
          'NOT or': ['p1'],
          '"quoted': ['p2'],
          '(thing)*': ['p2'],
          'column:': ['p2'],
          'NEAR(': ['p2'],
          '12:30': ['p3'],
          'c++': ['p4'],
          '^title': ['p5'],
          '{title}:plain': ['p5'],
          '-plain': ['p5'],
          "'; DROP TABLE": [],
          '*': [],
          '"""': [],
          '+-&|!(){}[]^~*?:\\/': [],
        }
        for (const [words, ids] of Object.entries(cases))
          assert.deepEqual((await found(words)).sort(), [...ids].sort(), words)
      })

      test('a blank query is no text query', async () => {
        await given({ a: { title: 'x', addedAt: 1 }, b: { title: 'y', addedAt: 2 } })
        const { hits, total } = await papers.find({ text: { words: '  ' } })
        assert.deepEqual([hits.map((hit) => hit.id), total, hits[0]!.score], [['b', 'a'], 2, 0])
      })

      test('a text query may be combined with a filter and sorted by a field', async () => {
        await given({
          a: { title: 'Lamp', kind: 'book', pages: 3 },
          b: { title: 'Lamp lamp lamp', kind: 'book', pages: 1 },
          c: { title: 'A lamp', kind: 'map', pages: 2 },
        })
        assert.deepEqual(
          (await papers.find({ text: { words: 'lamp' }, filter: { eq: ['kind', 'map'] } })).hits.map((hit) => hit.id),
          ['c'],
        )
        const sorted = await papers.find({ text: { words: 'lamp' }, sort: [{ by: 'pages', order: 'asc' }] })
        assert.deepEqual([sorted.hits.map((hit) => hit.id), sorted.total], [['b', 'c', 'a'], 3])
        const none = await papers.find({ text: { words: 'lamp' }, withoutTotal: true, size: 2 })
        assert.equal(none.total, 2)
      })

      test('texts, and nothing else, are left out on request', async () => {
        await given({
          a: { title: 'Lamp', addedAt: 1 },
          b: { title: 'Two lamps', addedAt: 2 },
          c: { title: 'x', addedAt: 3 },
        })
        for (const query of [{ text: { words: 'lamp' } }, { ids: ['c', 'a'] }, {}]) {
          const { hits, total } = await papers.find(query)
          const bare = await papers.find({ ...query, withoutTexts: true })
          assert.ok(hits.length > 0 && hits.every(({ text }) => text !== ''))
          assert.deepEqual(bare, { hits: hits.map((hit) => ({ ...hit, text: '' })), total })
        }
      })

      test('any word is enough, and documents with more of them come first', async () => {
        await given()
        const lines = index.collection(lineIndex)
        await lines.putMany(
          Object.entries({
            three: 'cold proof overnight in a long sentence about many other things',
            two: 'proof it cold',
            one: 'cold',
            other: 'proof proof proof',
            none: 'the oven is hot',
          }).map(([id, text], at) => ({ id, doc: { text, saidAt: at } })),
        )
        await index.refresh()
        const { hits, total } = await lines.find({
          text: { words: 'the cold proof overnight', match: 'any', dropStopWords: true },
        })
        assert.deepEqual(
          hits.slice(0, 2).map((hit) => hit.id),
          ['three', 'two'],
        )
        assert.deepEqual(
          hits
            .slice(2)
            .map((hit) => hit.id)
            .sort(),
          ['one', 'other'],
        )
        assert.equal(total, 4)
        const near = await lines.find({ text: { words: 'cold overnigth', match: 'any', fuzziness: 'auto' } })
        assert.deepEqual(near.hits.map((hit) => hit.id).sort(), ['one', 'three', 'two'])
      })

      test('words that occur nowhere do not change which documents have most of the others', async () => {
        await given()
        const lines = index.collection(lineIndex)
        await lines.putMany([
          { id: 'three', doc: { text: 'apple and then some time later a cherry and at last a grape', saidAt: 1 } },
          { id: 'one', doc: { text: 'banana banana banana', saidAt: 2 } },
          ...['apple', 'cherry', 'grape', 'bread', 'butter'].flatMap((word) =>
            [1, 2, 3, 4].map((at) => ({ id: `${word}${at}`, doc: { text: `${word} pie`, saidAt: at } })),
          ),
        ])
        await index.refresh()
        const nowhere = 'quartz willow ember lantern meadow copper'
        for (const fuzziness of [0, 'auto'] as const) {
          const { hits, total } = await lines.find({
            text: { words: `apple banana cherry grape ${nowhere}`, match: 'any', fuzziness },
          })
          assert.deepEqual([hits.slice(0, 2).map((hit) => hit.id), total], [['three', 'one'], 14], String(fuzziness))
        }
        assert.deepEqual(await lines.find({ text: { words: `${nowhere} anchor`, match: 'any' } }), {
          hits: [],
          total: 0,
        })
      })
    })

    describe('similar', () => {
      test('shared rare words decide; the document itself is left out; a filter applies', async () => {
        // Words in half of all documents do not count.
        const others = ['brine', 'cedar', 'delta', 'ember', 'flint', 'grove', 'heron', 'inlet', 'jetty', 'knoll']
        await given({
          ...Object.fromEntries(others.map((title) => [title, { title }])),
          self: { title: 'Restoring a violin', topics: ['luthier', 'wood'] },
          close: { title: 'A violin restored', topics: ['luthier'] },
          far: { title: 'A wood stove', topics: ['fire'] },
          hidden: { title: 'Violin luthier', kind: 'secret' },
          none: { title: 'Sailing', topics: ['sea'] },
        })
        assert.deepEqual(
          (await papers.similar('self', { size: 2, filter: { not: { eq: ['kind', 'secret'] } } })).map((hit) => hit.id),
          ['close', 'far'],
        )
        assert.deepEqual((await papers.similar('self', { size: 9 })).map((hit) => hit.id).sort(), [
          'close',
          'far',
          'hidden',
        ])
        assert.deepEqual(await papers.similar('nothing', { size: 9 }), [])
        assert.deepEqual(await papers.similar('none', { size: 9 }), [])
      })
    })

    describe('statistics', () => {
      test('groups, counts, sums, order and limit', async () => {
        await given({
          a: { title: 'x', kind: 'book', isRead: true, pages: 10, price: 0.5 },
          b: { title: 'x', kind: 'book', isRead: false, pages: 20 },
          c: { title: 'x', kind: 'map', isRead: true, pages: 5 },
          d: { title: 'x', pages: 1 },
        })
        assert.deepEqual(await papers.aggregate({ sums: ['pages'] }), [{ key: [], count: 4, sums: { pages: 36 } }])
        assert.deepEqual(
          await papers.aggregate({
            groupBy: ['kind'],
            sums: ['pages', 'price'],
            orderBy: { metric: 'pages', order: 'desc' },
            limit: 2,
          }),
          [
            { key: ['book'], count: 2, sums: { pages: 30, price: 0.5 } },
            { key: ['map'], count: 1, sums: { pages: 5, price: 0 } },
          ],
        )
        const rows = await papers.aggregate({
          groupBy: ['kind', 'isRead'],
          orderBy: { metric: 'count', order: 'desc' },
        })
        assert.equal(rows.length, 4)
        assert.deepEqual(
          rows.find((row) => row.key[0] === 'book' && row.key[1] === true),
          { key: ['book', true], count: 1, sums: {} },
        )
        assert.deepEqual(
          rows.find((row) => row.key[0] === null),
          { key: [null, null], count: 1, sums: {} },
        )
        assert.deepEqual(await papers.aggregate({ filter: { eq: ['kind', 'film'] }, sums: ['pages'] }), [
          { key: [], count: 0, sums: { pages: 0 } },
        ])
      })

      test('a repeated question follows later writes', async () => {
        await given({ a: { title: 'x', kind: 'book', pages: 1 } })
        const sums = async () =>
          (await papers.aggregate({ groupBy: ['kind'], sums: ['pages'] })).map((row) => [
            row.key[0],
            row.count,
            row.sums['pages'],
          ])
        assert.deepEqual([await sums(), await papers.count()], [[['book', 1, 1]], 1])
        await papers.put('b', { title: 'x', kind: 'book', pages: 5 }, { visible: true })
        assert.deepEqual([await sums(), await papers.count()], [[['book', 2, 6]], 2])
        await papers.remove('a', { visible: true })
        assert.deepEqual([await sums(), await papers.count()], [[['book', 1, 5]], 1])
      })

      test('groups by each of several values', async () => {
        await given({ a: { title: 'x', topics: ['red', 'blue'] }, b: { title: 'x', topics: ['blue'] } })
        assert.deepEqual(await papers.aggregate({ groupBy: ['topics'], orderBy: { metric: 'count', order: 'desc' } }), [
          { key: ['blue'], count: 2, sums: {} },
          { key: ['red'], count: 1, sums: {} },
        ])
      })

      test('days, weeks and months are in local time, including changes of clocks', async (t) => {
        const before = process.env['TZ']
        process.env['TZ'] = 'America/New_York'
        t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
        const at = (text: string) => Date.parse(text) / 1000
        await given({
          a: { title: 'x', addedAt: at('2024-03-10T04:59:00Z'), pages: 1 }, // the 9th, 23:59 in winter time
          b: { title: 'x', addedAt: at('2024-03-10T05:01:00Z'), pages: 2 }, // the 10th, a Sunday
          c: { title: 'x', addedAt: at('2024-03-11T03:59:00Z'), pages: 4 }, // the 10th, 23:59 in summer time
          d: { title: 'x', addedAt: at('2024-03-11T04:01:00Z'), pages: 8 }, // the 11th, a Monday
          e: { title: 'x', addedAt: at('2024-04-01T03:59:00Z'), pages: 16 }, // the last of March
          f: { title: 'x', pages: 32 },
        })
        const sums = async (interval: 'day' | 'week' | 'month') =>
          Object.fromEntries(
            (await papers.aggregate({ histogram: { field: 'addedAt', interval }, sums: ['pages'] })).map((row) => [
              row.key[0],
              row.sums['pages'],
            ]),
          )
        assert.deepEqual(await sums('day'), { '2024-03-09': 1, '2024-03-10': 6, '2024-03-11': 8, '2024-03-31': 16 })
        assert.deepEqual(await sums('week'), { '2024-03-04': 7, '2024-03-11': 8, '2024-03-25': 16 })
        assert.deepEqual(await sums('month'), { '2024-03-01': 31 })
        const filtered = await papers.aggregate({
          filter: { or: [{ eq: ['pages', 1] }, { eq: ['pages', 32] }] },
          histogram: { field: 'addedAt', interval: 'day' },
        })
        assert.deepEqual(filtered, [{ key: ['2024-03-09'], count: 1, sums: {} }])
      })
    })

    describe('parts', () => {
      test('returns single values of the matches, by id and in batches: columns, texts, values within lists', async () => {
        const doc = (at: number): PaperDoc => ({
          ...{ title: `Number ${at}`, shelf: at % 2 ? 's' : 't', pages: at, isRead: at === 3 },
          ...(at === 4 && { topics: ['b', 'a'], about: { language: 'de' } }),
        })
        await given(Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`p${at}`, doc(at)])))
        const read = async (query: Parameters<Papers['parts']>[0]) => {
          const batches: Array<Array<[string, ...unknown[]]>> = []
          for await (const batch of papers.parts(query)) batches.push(batch.map(({ id, values }) => [id, ...values]))
          return batches
        }

        const kept = await read({ paths: ['shelf', 'pages', 'isRead'], filter: { eq: ['shelf', 's'] }, batch: 2 })
        const texts = await read({ paths: ['title', 'topics', 'topics.0', 'about.language', 'pages'] })

        assert.deepEqual(kept, [
          [
            ['p1', 's', 1, false],
            ['p3', 's', 3, true],
          ],
          [['p5', 's', 5, false]],
        ])
        assert.deepEqual(texts.flat()[3], ['p4', 'Number 4', '["b","a"]', 'b', 'de', 4])
        assert.deepEqual(texts.flat()[0], ['p1', 'Number 1', null, null, null, 1])
      })

      test('stamps change exactly when a document changes', async () => {
        const doc = (at: number): PaperDoc => ({ title: `Number ${at}`, shelf: 's', pages: at })
        await given({ p1: doc(1), p2: doc(2) })
        const stamps = async () => {
          const found: unknown[] = []
          for await (const batch of papers.parts({ paths: ['pages', STAMP] }))
            found.push(...batch.map(({ values }) => values[1]))
          return found
        }
        const before = await stamps()
        await papers.patch('p2', { set: { title: 'Another' } }, { visible: true })

        const after = await stamps()

        assert.equal(typeof before[0], 'string')
        assert.equal(after[0], before[0])
        assert.notEqual(after[1], before[1])
      })
    })

    describe('scan', () => {
      const many = (count: number) =>
        Object.fromEntries(
          Array.from({ length: count }, (_, at) => [
            `p${String(at).padStart(3, '0')}`,
            { title: `Number ${at}`, addedAt: (at * 7) % count, isRead: at % 2 === 0, shelf: 's' },
          ]),
        )
      const collect = async (query: Parameters<Papers['scan']>[0]): Promise<string[]> => {
        const ids: string[] = []
        for await (const batch of papers.scan(query)) ids.push(...batch.map(({ id }) => id))
        return ids
      }

      test('returns every document once, complete, in batches', async () => {
        await given(many(205))
        const sizes: number[] = []
        for await (const batch of papers.scan({ batch: 50 })) {
          sizes.push(batch.length)
          assert.equal(batch[0]!.doc.shelf, 's')
        }
        assert.deepEqual(sizes, [50, 50, 50, 50, 5])
        assert.deepEqual(await collect({}), Object.keys(many(205)))
        assert.equal((await collect({ filter: { eq: ['isRead', true] }, batch: 20 })).length, 103)
        assert.deepEqual(await collect({ filter: { or: [] } }), [])
      })

      test('newest last is sorted by age', async () => {
        await given(many(30))
        const ids = await collect({ order: 'newest last', batch: 7 })
        const ages = many(30)
        assert.deepEqual(
          ids,
          Object.keys(ages).sort((a, b) => ages[a]!.addedAt - ages[b]!.addedAt),
        )
      })

      test('a document that exists throughout is returned exactly once while others write and remove', async () => {
        await given(many(100))
        const seen: string[] = []
        for await (const batch of papers.scan({ batch: 10 })) {
          seen.push(...batch.map(({ id }) => id))
          await papers.put(`a-new-${seen.length}`, { title: 'early in the order' })
          await papers.put(`z-new-${seen.length}`, { title: 'late in the order' }, { visible: true })
          await papers.patch('p005', { set: { pages: seen.length } })
          if (seen.length === 10) await papers.remove('p099', { visible: true })
        }
        const staying = Object.keys(many(100)).slice(0, 99)
        assert.deepEqual(
          seen.filter((id) => id.startsWith('p') && id !== 'p099'),
          staying,
        )
        assert.equal(new Set(seen).size, seen.length)
      })
    })

    describe('the whole index', () => {
      test('replaceAll replaces all collections', async () => {
        await given({ old: { title: 'Old', topics: ['gone'] } })
        await index.collection(lineIndex).put('l', { text: 'line', saidAt: 1 }, { visible: true })
        await index.replaceAll(async (write) => {
          const result = await write('paper', [
            { id: 'new', doc: { title: 'New', shelf: 's' } },
            { id: 'bad', doc: { title: 'Bad', pages: 'x' } },
          ])
          assert.deepEqual([result.written, result.failed.map(({ id }) => id)], [1, ['bad']])
          assert.equal(
            await papers.getText('old'),
            '{"title":"Old","topics":["gone"]}',
            'reads go on with what was there',
          )
          assert.equal(await papers.get('new'), undefined)
        })
        await index.refresh()
        assert.deepEqual(await papers.get('new'), { title: 'New', shelf: 's' })
        assert.equal(await papers.get('old'), undefined)
        assert.deepEqual(await found('new'), ['new'])
        assert.deepEqual(await found('old'), [])
        assert.equal(await index.collection(lineIndex).count(), 0, 'what was not written to is empty')
        await papers.put('later', { title: 'Later' }, { visible: true })
        assert.deepEqual(await found('later'), ['later'])
      })

      test('a failed replaceAll leaves everything unchanged, and another may follow', async () => {
        await given({ old: { title: 'Old' } })
        const broken = new Error('broken')
        const failing = index.replaceAll(async (write) => {
          await write('paper', [{ id: 'new', doc: { title: 'New' } }])
          throw broken
        })
        await assert.rejects(failing, broken)
        assert.deepEqual(await filtered({ and: [] }), ['old'])
        await index.replaceAll(
          async (write) => void (await write('paper', [{ id: 'second', doc: { title: 'Second' } }])),
        )
        await index.refresh()
        assert.deepEqual(await filtered({ and: [] }), ['second'])
      })

      test('its generation survives a replaceAll and a close', async () => {
        const before = await index.generation?.read()
        await index.generation?.keep(7)
        await index.replaceAll(async (write) => void (await write('paper', [{ id: 'new', doc: { title: 'New' } }])))
        const replaced = await index.generation?.read()
        await index.close()
        index = await held.open(onGarbled)
        papers = index.collection(paperIndex)

        assert.deepEqual([before, replaced, await index.generation?.read()], [0, 7, 7])
      })

      test('everything is there again after a close', async () => {
        await given({ p1: { title: 'Kept words', topics: ['t'], shelf: 's', addedAt: 3 } })
        await index.close()
        index = await held.open(onGarbled)
        papers = index.collection(paperIndex)
        assert.deepEqual(await papers.get('p1'), { title: 'Kept words', topics: ['t'], shelf: 's', addedAt: 3 })
        assert.deepEqual(await found('kept'), ['p1'])
        assert.deepEqual(await found('kepd words', { fuzziness: 'auto' }), ['p1'])
        assert.deepEqual(await filtered({ eq: ['topics', 't'] }), ['p1'])
      })

      test('an undeclared collection can be read until it is removed, and never again', async (t) => {
        if (!index.leftover) return t.skip(`${adapter} says nothing of what is not declared`)
        await given({ p1: { title: 'Of now' } })
        const lines = Array.from({ length: 501 }, (_, at) => ({
          id: `l${String(at).padStart(3, '0')}`,
          doc: { text: `Line ${at}`, saidAt: at },
        }))
        await index.collection(lineIndex).putMany(lines)
        const open = async (...definitions: IndexDefinition[]) => {
          await index.close()
          index = await held.open(onGarbled, definitions)
        }
        const left = async () => {
          const found: object[] = []
          for await (const batch of (await index.leftover!('line'))?.scan() ?? []) found.push(...batch)
          return found
        }

        const declared = await left()
        await open(paperIndex)
        const before = await left()
        await open(paperIndex)
        const again = await left()
        const leftover = await index.leftover('line')
        await leftover!.remove()
        await leftover!.remove()
        const after = await index.leftover('line')
        await open(paperIndex, lineIndex, splicedIndex, letterIndex)

        assert.deepEqual([declared, before, again, after], [[], lines, lines, undefined])
        assert.equal(await index.collection(lineIndex).count(), 0)
        assert.deepEqual(await index.collection(paperIndex).get('p1'), { title: 'Of now' })
      })
    })
  })
}
