/**
 * Requests titles and thumbnails from the community service: by a hash prefix, so that it does not learn which video is
 * meant. The proposals are checked, and the best one is chosen here.
 */
import { isBlank, Type, Value } from 'archivolt'
import { askService, hashPrefix } from '../community-kit/ask.ts'

/** Maximum size of a reply, which contains every video with this prefix: hundreds at most. */
const MOST_BYTES = 4 * 1024 * 1024
const MOST_PROPOSALS = 200

const standing = {
  original: Type.Optional(Type.Boolean()),
  votes: Type.Optional(Type.Integer()),
  locked: Type.Optional(Type.Boolean()),
}
const TitleProposal = Type.Object({ ...standing, title: Type.String({ maxLength: 500 }) })
/** A thumbnail has a time in seconds, unless it is the platform's own. */
const ThumbnailProposal = Type.Object({
  ...standing,
  timestamp: Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()])),
})
const Proposals = Type.Object({ titles: Type.Array(Type.Unknown()), thumbnails: Type.Array(Type.Unknown()) })
const Answer = Type.Record(Type.String(), Type.Unknown())

interface Proposal {
  /** Whether the proposal is what the platform shows. */
  original?: boolean
  votes?: number
  locked?: boolean
}

export interface Branding {
  title?: string
  /** Time in seconds. */
  thumbnail?: number
}

/**
 * The proposal that moderators have locked, otherwise the one with the most votes, at least 0; among equals, the first.
 * Undefined: there is no proposal, or the platform's own is the best.
 */
export function best<Each extends Proposal>(proposals: readonly Each[]): Each | undefined {
  const rank = ({ locked = false, votes = 0 }: Proposal): number => (locked ? Infinity : votes)
  const [first] = proposals
    .filter((one) => rank(one) >= 0)
    .toSorted((a, b) => Number(rank(b) > rank(a)) - Number(rank(a) > rank(b)))
  return first?.original === true ? undefined : first
}

/** A title without the `>` that marks words whose capitals must be kept. */
export const plainTitle = (title: string): string =>
  title
    .replace(/(^|\s)>(?=\S)/g, '$1')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()

/**
 * The best title and thumbnail of a video; empty: none are known. Malformed ones are left out.
 * @throws if the service does not answer
 */
export async function askForBranding(baseUrl: string, videoId: string, signal?: AbortSignal): Promise<Branding> {
  const url = `${baseUrl}/api/branding/${hashPrefix(videoId)}`
  const answer = await askService({
    url,
    service: 'The service for titles',
    schema: Answer,
    maxBytes: MOST_BYTES,
    signal,
  })
  if (answer === undefined) return {}
  const own = Object.hasOwn(answer, videoId) ? answer[videoId] : undefined
  if (!Value.Check(Proposals, own)) return {}
  const titles = own.titles.slice(0, MOST_PROPOSALS).filter((one) => Value.Check(TitleProposal, one))
  const thumbnails = own.thumbnails.slice(0, MOST_PROPOSALS).filter((one) => Value.Check(ThumbnailProposal, one))
  const title = plainTitle(best(titles)?.title ?? '')
  const thumbnail = best(thumbnails)?.timestamp ?? undefined
  return { ...(!isBlank(title) && { title }), ...(thumbnail !== undefined && { thumbnail }) }
}
