/** The schemas of sentences for people. They are apart from `say.ts`, so that workers do not load TypeBox. */
import { Type } from 'typebox'
import type * as say from './say.ts'

const Sentence = Type.Object({ key: Type.String(), params: Type.Record(Type.String(), Type.Unknown()) })

export type Words = say.Words
/** For payloads and rows. */
export const Words = Type.Unsafe<Words>(Type.Union([Type.String(), Sentence]))

export type Said = say.Said
/** For replies, contract 2.3. */
export const Said = Type.Unsafe<Said>(
  Type.Record(Type.String(), Sentence, {
    description: 'The template and values of each sentence that has values, by its English text.',
  }),
)
