/** The segment list as shown (contract 5.9); it is stored in the video's document. */
import { Type } from 'archivolt'

export const SegmentList = Type.Object({
  is_enabled: Type.Boolean(),
  last_refresh: Type.Optional(Type.Integer()),
  has_unlocked: Type.Boolean(),
  segments: Type.Array(
    Type.Object({
      UUID: Type.String(),
      actionType: Type.String(),
      category: Type.String(),
      segment: Type.Array(Type.Number()),
      locked: Type.Integer(),
      votes: Type.Integer(),
      videoDuration: Type.Number(),
    }),
  ),
})
