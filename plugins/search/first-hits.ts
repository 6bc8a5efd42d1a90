/**
 * Distributes the slots of a simple search: up to six channels and six playlists, the rest videos; unused slots go to
 * the other kinds.
 */
export const MOST_HITS = 30
const QUOTA = 6

/** Best first. */
export interface HitsByKind<Hit> {
  channel: Hit[]
  playlist: Hit[]
  video: Hit[]
}

export const NONE: HitsByKind<never> = { channel: [], playlist: [], video: [] }

/**
 * The first hits of each group to show.
 * @param taken  hits that are already shown: they count against the slots and the quotas
 */
export function firstHits<Hit>(found: HitsByKind<Hit>, taken: HitsByKind<Hit> = NONE): HitsByKind<Hit> {
  let room = MOST_HITS - taken.channel.length - taken.playlist.length - taken.video.length
  const counts = { channel: 0, playlist: 0, video: 0 }
  const give = (group: keyof typeof counts, most: number) => {
    const count = Math.max(0, Math.min(found[group].length - counts[group], most, room))
    counts[group] += count
    room -= count
  }
  give('channel', QUOTA - taken.channel.length)
  give('playlist', QUOTA - taken.playlist.length)
  for (const group of ['video', 'channel', 'playlist'] as const) give(group, room)
  return {
    channel: found.channel.slice(0, counts.channel),
    playlist: found.playlist.slice(0, counts.playlist),
    video: found.video.slice(0, counts.video),
  }
}
