/** The page object: contract 4.2, row by row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { pageBlock, pageParams, pageWindow } from '../../../core/http/pagination.ts'
import { queryTexts, readQuery } from '../../../core/http/query.ts'

test('the contract’s example', () => {
  assert.deepEqual(pageBlock(pageWindow(3, 12), 105, 'filter=subscribed'), {
    page_size: 12,
    page_from: 24,
    prev_pages: [2],
    current_page: 3,
    max_hits: false,
    params: 'filter=subscribed',
    last_page: 9,
    next_pages: [4, 5, 6, 7, 8],
    total_hits: 105,
  })
})

const table: Array<
  [
    asked: number,
    total: number,
    size: number,
    from: number,
    prev: number[],
    next: number[],
    last: number,
    isFull: boolean,
  ]
> = [
  [0, 0, 12, 0, [], [], 0, false],
  [1, 0, 12, 0, [], [], 0, false],
  [0, 12, 12, 0, [], [], 0, false],
  [0, 13, 12, 0, [], [], 2, false],
  [0, 240, 12, 0, [], [2, 3, 4, 5], 20, false],
  [1, 240, 12, 0, [], [2, 3, 4, 5, 6], 20, false],
  [2, 240, 12, 12, [], [3, 4, 5, 6, 7], 20, false],
  [8, 240, 12, 84, [3, 4, 5, 6, 7], [9, 10, 11, 12, 13], 20, false],
  [18, 240, 12, 204, [13, 14, 15, 16, 17], [19], 20, false],
  [19, 240, 12, 216, [14, 15, 16, 17, 18], [], 20, false],
  [20, 240, 12, 228, [15, 16, 17, 18, 19], [], 0, false],
  [1, 10_000, 12, 0, [], [2, 3, 4, 5, 6], 833, true],
  [1, 25_000, 12, 0, [], [2, 3, 4, 5, 6], 833, true],
  [833, 25_000, 12, 9984, [828, 829, 830, 831, 832], [], 0, true],
  [1, 9999, 12, 0, [], [2, 3, 4, 5, 6], 834, false],
]

for (const [asked, total, size, from, prev, next, last, isFull] of table) {
  test(`page ${asked} of ${total} records, ${size} each`, () => {
    const block = pageBlock(pageWindow(asked, size), total, '')
    assert.deepEqual(block, {
      page_size: size,
      page_from: from,
      prev_pages: prev,
      current_page: asked,
      max_hits: isFull,
      params: '',
      last_page: last,
      next_pages: next,
      total_hits: Math.min(total, 10_000),
    })
  })
}

test('a page number beyond the exact integers is refused', () => {
  const read = (text: string, schema: TSchema = Type.Integer({ minimum: 0 })) =>
    readQuery({ page: schema }, queryTexts(`page=${encodeURIComponent(text)}`))
  assert.deepEqual(read('9007199254740991'), { page: Number.MAX_SAFE_INTEGER })
  for (const text of [
    '9007199254740993',
    '9'.repeat(400),
    '-1',
    '1.5',
    '1e3',
    ' 1',
    '+1',
    '0x1',
    `-${'9'.repeat(400)}`,
  ])
    assert.throws(() => read(text), { message: 'page must be an integer of at least 0' }, text)
  assert.throws(() => read('9'.repeat(400), Type.Integer({ minimum: 1, maximum: 100 })), {
    message: 'page must be an integer from 1 to 100',
  })
})

test('the query is repeated without `page`, in its order, including empty values', () => {
  const texts: Array<[query: string, params: string]> = [
    ['', ''],
    ['page=3', ''],
    ['b=2&page=1&a=1', 'b=2&a=1'],
    ['q=a%20b+c&x=', 'q=a+b+c&x='],
    ['q=%C3%A4&page=', 'q=%C3%A4'],
  ]
  for (const [query, params] of texts) assert.equal(pageParams(query), params)
})
