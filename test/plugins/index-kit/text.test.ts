/** Words: folding, splitting, queries and highlighting. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowedEdits, editDistance } from '../../../plugins/index-kit/edit-distance.ts'
import {
  fold,
  highlight,
  indexTerms,
  markedRanges,
  type QueryWord,
  queryWords,
  stem,
  tokens,
} from '../../../plugins/index-kit/text.ts'

test('folding makes case, diacritics and compatible forms equal', () => {
  const cases: Array<[string, string]> = [
    ['Crème BRÛLÉE', 'creme brulee'],
    ['Straße', 'strasse'],
    ['ﬁne Ⅳ ｆｕｌｌ', 'fine iv full'],
    ['İstanbul ısı', 'istanbul isi'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['Łódź Ærø', 'lodz aero'],
    ['co\u00adop', 'coop'],
  ]
  for (const [text, folded] of cases) assert.equal(fold(text), folded)
})

test('folding keeps marks that make a different letter', () => {
  assert.equal(fold('ガラス'), 'ガラス')
  assert.equal(fold('हिन्दी'), 'हिन्दी'.normalize('NFC'))
  assert.equal(fold('한국어'), '한국어')
})

test('texts are split at everything that is neither a letter nor a digit', () => {
  assert.deepEqual(tokens(`It's 12:30—C++ "rock'n'roll" e-mail 😀x ½`), [
    'it',
    's',
    '12',
    '30',
    'c',
    'rock',
    'n',
    'roll',
    'e',
    'mail',
    'x',
    '1',
    '2',
  ])
  assert.deepEqual(tokens('plain ASCII, too_long'), ['plain', 'ascii', 'too', 'long'])
  assert.deepEqual(tokens(' \u0301 — '), [])
})

test('variation selectors are not part of a word', () => {
  assert.deepEqual(tokens('▶\ufe0fGo 5\ufe0f\u20e3 1\ufe0f\u20e32\ufe0f\u20e3'), ['go', '5', '12'])
  assert.deepEqual(queryWords('\ufe0f'), [])
  assert.deepEqual(queryWords('❤\ufe0f'), queryWords('❤'))
  assert.deepEqual(queryWords('👨\u200d👩\u200d👧'), queryWords('👨👩👧'))
})

test('scripts without spaces are segmented, each separately', () => {
  assert.deepEqual(tokens('東京タワー'), ['東京', 'タワー'])
  assert.deepEqual(tokens('北京大学生活'), ['北京', '大学', '生活'])
  assert.deepEqual(tokens('iPhone用ケース'), ['iphone', '用', 'ケース'])
  assert.deepEqual(tokens('สวัสดีชาวโลก'), ['สวัสดี', 'ชาว', 'โลก'])
})

/** Whether a query matches a text, as adapters search. */
function finds(text: string, query: string): boolean {
  const terms = indexTerms(text)
  const stands = (row: string[]) => terms.some((_, at) => row.every((term, further) => terms[at + further] === term))
  const asked = queryWords(query, { prefixLast: true })
  const isFound = ({ term, rows, isPrefix }: QueryWord) =>
    terms.some((one) => one === term || (isPrefix && one.startsWith(term))) || rows.some(stands)
  return asked.length > 0 && asked.every(isFound)
}

test('in scripts without spaces every part of a text matches, however it is segmented', () => {
  const texts = [
    '如何製作中文字幕教學影片',
    '東京タワーの夜景と食べ歩き',
    'สอนทำอาหารไทยง่ายๆที่บ้าน',
    'ວິທີເຮັດອາຫານລາວ',
    'របៀបធ្វើម្ហូបខ្មែរ',
    'မြန်မာဟင်းချက်နည်း',
    'B用ケース第3回',
    'ｶﾞﾝﾀﾞﾑ葛\u{e0100}城',
    '𠮷野家',
  ]
  for (const text of texts) {
    const letters = [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment)
    for (let from = 0; from < letters.length; from++)
      for (let to = from + 1; to <= letters.length; to++) {
        const part = letters.slice(from, to).join('')
        // A combining mark alone is not a word.
        if (!/^\p{M}/u.test(part)) assert.ok(finds(text, part), `${part} in ${text}`)
      }
  }
  assert.ok(!finds('中国文明', '中文字'))
  assert.ok(!finds('กาดาแฟน', 'กาแฟ'), 'its letters stand there, but not in a row')
})

test('words with punctuation are found as people type them', () => {
  const spellings = [
    ['T.N.T.', 'TNT', 'tnt', 't.n.t'],
    ['AC/DC', 'ACDC', 'A.C./D.C.'],
    ['M*A*S*H', 'mash'],
    ['e-mail', 'email'],
    ['Don’t', "don't", 'dont'],
    ['Ｃ＋＋', 'C++', 'c++'],
    ['C#', 'c#'],
    ['Notepad++', 'notepad'],
  ]
  for (const [title = '', ...typed] of spellings)
    for (const query of [title, ...typed]) assert.ok(finds(`The ${title} story`, query), `${query} in ${title}`)
  assert.ok(finds('TNT and ACDC', 'T.N.T. AC/DC'))
  assert.ok(finds('AC DC', 'AC/DC'))
  assert.ok(!finds('Cooking with C', 'C++'))
  assert.ok(!finds('C++ for beginners', 'C#'))
  assert.ok(!indexTerms('2024-03-01 12.30').includes('20240301'))
})

test('texts of symbols alone are found by them', () => {
  for (const title of ['?!', '***', '$', '!!!', '+/-', '🌊🌊', '...', '（＾_＾）', '" OR "', '❤\ufe0f'])
    assert.ok(finds(title, title), title)
  assert.ok(finds('🌊🌊', '🌊'))
  assert.ok(finds('！！！', '!!!'))
  assert.ok(!finds('?!', '!?'))
  assert.ok(!finds('why?!', '?!'), 'it has words')
  assert.deepEqual(indexTerms(' \u200b \u0000 '), [])
})

test('composed, decomposed, half-width and variant letters make the same words', () => {
  for (const text of ['ガンダム 第1話', 'こんばんは世界', 'がっこうへ行く', '서울大学', 'สวัสดีชาวโลก', 'Crème 東京é'])
    assert.deepEqual(tokens(text.normalize('NFD')), tokens(text.normalize('NFC')), text)
  assert.deepEqual(tokens('ｶﾞﾝﾀﾞﾑ'), tokens('ガンダム'))
  assert.deepEqual(tokens('葛\u{e0100}城へ'), tokens('葛城へ'))
})

test('hostile texts stay bounded: long words are cut, and endless ones end', () => {
  assert.equal(tokens('x'.repeat(100_000))[0]!.length, 64)
  assert.equal(tokens('a '.repeat(100_000)).length, 20_000)
  assert.equal(tokens('é '.repeat(100_000)).length, 20_000)
  assert.ok(queryWords(Array.from({ length: 500 }, (_, at) => `w${at}`).join(' ')).length <= 32)
  assert.equal(tokens(`${'a'.repeat(63)}😀`)[0], 'a'.repeat(63))
})

test('a query contains each word once, and only its last word is a prefix', () => {
  const asked = queryWords('Running RUNNING shoes', { prefixLast: true })
  assert.deepEqual(
    asked.map(({ term, stem: root, isPrefix }) => [term, root, isPrefix]),
    [
      ['running', 'run', false],
      ['shoes', 'shoe', true],
    ],
  )
})

test('stop words are dropped only if other words remain', () => {
  assert.deepEqual(
    queryWords('the cold proof', { dropStopWords: true }).map((word) => word.term),
    ['cold', 'proof'],
  )
  assert.deepEqual(
    queryWords('to be or not', { dropStopWords: true }).map((word) => word.term),
    ['to', 'be', 'or', 'not'],
  )
})

test('edits are allowed by length, fewer if the word may be incomplete, none for numbers', () => {
  const cases: Array<[string, boolean, 0 | 1 | 2]> = [
    ['ab', false, 0],
    ['abc', false, 1],
    ['abcde', false, 1],
    ['abcdef', false, 2],
    ['abc', true, 0],
    ['abcd', true, 1],
    ['2024', false, 0],
  ]
  for (const [word, isLast, edits] of cases) assert.equal(allowedEdits(word, 'auto', isLast), edits, word)
  assert.equal(allowedEdits('abc', 2, false), 2)
  assert.equal(allowedEdits('ab', 2, false), 0)
  assert.equal(allowedEdits('abcdefgh', 0, false), 0)
})

test('the distance of two words counts insertions, deletions, replacements and swaps of neighbors', () => {
  const cases: Array<[string, string, number]> = [
    ['bread', 'bread', 0],
    ['bread', 'brad', 1],
    ['bread', 'braed', 1],
    ['kitten', 'sitting', 3],
    ['', 'ab', 2],
    ['abcdef', 'xyz', 3],
  ]
  for (const [a, b, distance] of cases) {
    assert.equal(Math.min(editDistance(a, b, 2), 3), Math.min(distance, 3), `${a} ${b}`)
    assert.equal(editDistance(a, b, 2), editDistance(b, a, 2))
  }
})

test('the distance is exact up to the requested number of edits, and greater than it beyond', () => {
  const plain = (a: string, b: string): number => {
    if (a === '' || b === '') return a.length + b.length
    const [x, y] = [a.slice(0, -1), b.slice(0, -1)]
    const isSwap = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1)
    return Math.min(
      plain(x, b) + 1,
      plain(a, y) + 1,
      plain(x, y) + (a.at(-1) === b.at(-1) ? 0 : 1),
      isSwap ? plain(a.slice(0, -2), b.slice(0, -2)) + 1 : Infinity,
    )
  }
  const words = ['', 'a', 'ab', 'ba', 'abc', 'acb', 'bca', 'abab', 'baba', 'aabb', 'abcab', 'bacab', 'cabab']
  for (const a of words)
    for (const b of words)
      for (const most of [1, 2])
        assert.equal(Math.min(editDistance(a, b, most), most + 1), Math.min(plain(a, b), most + 1), `${a} ${b} ${most}`)
})

test('words with other than English letters are their own stem', () => {
  assert.deepEqual(['kernels', 'universities', 'is', 'süße', '東京', 'abc1s'].map(stem), [
    'kernel',
    'univers',
    'is',
    'süße',
    '東京',
    'abc1s',
  ])
})

test('matching words are highlighted in the original text', () => {
  const mark = (text: string, query: string, options = {}) =>
    highlight(text, query, { before: '[', after: ']', ...options })
  assert.equal(mark('Crème BRÛLÉE, crème!', 'creme'), '[Crème] BRÛLÉE, [crème]!')
  assert.equal(mark('Compiling kernels and a kernel', 'kernel'), 'Compiling [kernels] and a [kernel]')
  assert.equal(mark('kernels', 'kernel', { stem: false }), 'kernels')
  assert.equal(mark('the proof is cold', 'the cold proof', { dropStopWords: true }), 'the [proof] is [cold]')
  assert.equal(mark('東京タワーの夜景', '東京'), '[東京]タワーの夜景')
  assert.equal(mark('runner', 'run', { prefixLast: true }), '[runner]')
  assert.equal(mark('¾ cup, 3 eggs', '3'), '[¾] cup, [3] eggs')
  assert.equal(mark('▶\ufe0fGo 5\ufe0f\u20e3', 'go 5'), '▶\ufe0f[Go] [5\ufe0f\u20e3]')
  const greeting = 'iPad用 こんばんは世界、ガンダム!'
  assert.equal(
    mark(greeting.normalize('NFD'), '世界 ガンダム'),
    'iPad用 こんばんは[世界]、[ガン][ダム]!'.normalize('NFD'),
  )
  assert.equal(mark('新 ｶﾞﾝﾀﾞﾑ 葛\u{e0100}城。', 'ガンダム 葛城'), '新 [ｶﾞﾝ][ﾀﾞﾑ] [葛\u{e0100}城]。')
  assert.equal(mark('nothing here', 'absent'), 'nothing here')
})

test('matches within other words are highlighted where they are', () => {
  const mark = (text: string, query: string) => highlight(text, query, { before: '[', after: ']' })

  assert.equal(mark('如何製作中文字幕教學影片', '字幕'), '如何製作中文[字幕]教學影片')
  assert.equal(mark('如何製作中文字幕教學影片', '幕'), '如何製作中文字[幕]教學影片')
  assert.equal(mark('The T.N.T. story', 'tnt'), 'The [T.N.T]. story')
  assert.equal(mark('AC/DC live', 'AC/DC'), '[AC/DC] live')
  assert.equal(mark('Learn C++ today', 'c++'), 'Learn [C++] today')
  assert.equal(mark('?! ***', '***'), '?! [***]')
})

test('a near match is highlighted only without an exact one', () => {
  assert.deepEqual(markedRanges('bread and brad', 'bread', { fuzziness: 'auto' }), [[0, 5]])
  assert.deepEqual(markedRanges('brad and butter', 'bread', { fuzziness: 'auto' }), [[0, 4]])
  assert.deepEqual(markedRanges('a proof', 'prooves', { fuzziness: 'auto' }), [[2, 7]], 'their stems are near')
  assert.deepEqual(markedRanges('a proof', 'prooves', { fuzziness: 'auto', stem: false }), [])
})

test('markup around and in matching words is escaped, once', () => {
  const escape = (piece: string) => piece.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  assert.equal(
    highlight('<b>cold</b> & hot', 'cold b', { before: '<i>', after: '</i>', escape }),
    '&#60;<i>b</i>&#62;<i>cold</i>&#60;/<i>b</i>&#62; &#38; hot',
  )
})
