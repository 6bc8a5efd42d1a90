/** Search: results of all kinds on one page, updated while typing. A subtitle hit opens the video at its position. */
import { ListVideo, Play, SearchX } from 'lucide'
import type { ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { onceRendered } from '../browser/once-rendered.ts'
import { navigate, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ListenToSearch } from '../parts/podcast.tsx'
import { Portrait } from '../parts/portrait.tsx'
import { SavedFilters } from '../parts/saved-filters.tsx'
import { choosingIn } from '../parts/selection.ts'
import { SelectionBar } from '../parts/selection-bar.tsx'
import { Box, Empty, Failed } from '../parts/states.tsx'
import { TripChip } from '../parts/trip.tsx'
import type { TripSource } from '../parts/trip-source.ts'
import { videoActions } from '../parts/video-actions.ts'
import { VideoCard } from '../parts/video-card.tsx'
import { GhostCard } from '../parts/video-list.tsx'
import { toVideoRow, type VideoRow } from '../parts/video-row.ts'
import { toggleWatched } from '../parts/watched.ts'
import { type Failure, get, isAborted, toFailure } from '../server/api.ts'
import { small, under } from '../server/base.ts'
import type { Channel, CommentHit, Playlist, SearchResults, SubtitleHit } from '../server/records.ts'
import { deleted } from '../stores/deleted.ts'
import { isThere } from '../stores/left-out.ts'
import { type Rows, rowsOf } from '../stores/list.ts'
import { cache, cachedValue } from '../stores/load.ts'
import { rememberSearch } from '../stores/recent-searches.ts'
import { channelHref, mayAsk } from '../stores/session.ts'
import { shownTitle } from '../stores/titles.ts'
import { toAge, toClock } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { Offered, OwnAsks } from './search/asks.tsx'
import { Marked } from './search/marked.tsx'
import { Offers } from './search/offers.tsx'
import { type Asked, ofType, readSearch, SEARCH_TYPES, toSeconds, writeSearch } from './search/query-syntax.ts'

const REST_MS = 120
const FEW = 8

interface Found {
  videos: Rows<VideoRow>
  channels: Channel[]
  playlists: Playlist[]
  spoken: SubtitleHit[]
  comments: CommentHit[]
}

export default function SearchView() {
  const text = route.value.query.get('q') ?? ''
  const asked = readSearch(text)
  const { found, failure, isBusy, retry } = useSearch(text.trim())
  // Cached under this key, so that changes made elsewhere apply to the results.
  if (found) cache('list /api/search/', found.videos)
  useRemembered(found && countOf(found) > 0 ? text.trim() : '')
  useTitle(text === '' ? undefined : t('search.titleOf', { text }))
  return (
    <div class="search-view">
      <h1 class="unseen">{t('nav.search')}</h1>
      <div class="chips" role="group" aria-label={t('search.kinds')}>
        {SEARCH_TYPES.map((type) => (
          <button
            type="button"
            key={type}
            class="chip"
            aria-pressed={asked.type === type}
            onClick={() => insert(writeSearch(ofType(asked, type)))}
          >
            {t(`search.kind.${type}`)}
          </button>
        ))}
        <SavedFilters search={text.trim()} />
        {isOfWordsAlone(asked) && <ListenToSearch words={asked.term} />}
        {found && found.videos.rows.value.length > 0 && <TripChip source={searchSource(text)} />}
      </div>
      {text.trim() === '' ? (
        <>
          <p class="search-lead">{t('search.lead')}</p>
          <Offers onChoose={insert} />
          {mayAsk() && <OwnAsks />}
          <Language asked={asked} />
        </>
      ) : (
        <>
          {failure ? (
            <Failed failure={failure} onRetry={retry} />
          ) : found && !(isBusy && countOf(found) === 0) ? (
            <Results found={found} asked={asked} isBusy={isBusy} />
          ) : (
            <Waiting />
          )}
          {found && asked.term !== '' && mayAsk() && <Offered words={asked.term} />}
          {(found || failure) && (
            <details class="search-more">
              <summary class="unfold">{t('search.language')}</summary>
              <Language asked={asked} />
            </details>
          )}
        </>
      )}
      <p class="unseen" role="status">
        {found && !isBusy && text.trim() !== ''
          ? t('search.count', { count: isCut(found) ? { moreThan: countOf(found) } : countOf(found) })
          : ''}
      </p>
    </div>
  )
}

/** Remembers a search when somebody leaves it, because otherwise each typed letter would add one. */
function useRemembered(text: string): void {
  const newest = useRef(text)
  newest.current = text
  useEffect(() => () => rememberSearch(newest.current), [])
}

const searchSource = (text: string): TripSource => ({
  name: text,
  read: async (signal) =>
    (await get<{ results: SearchResults }>('/api/search/', { query: text }, signal)).results.video_results,
})

const isOfWordsAlone = ({ type, term, filters }: Asked): boolean =>
  (type === 'simple' || type === 'video') && term !== '' && filters.length === 0

const countOf = ({ videos, channels, playlists, spoken, comments }: Found): number =>
  videos.rows.value.length + channels.length + playlists.length + spoken.length + comments.length

/** The maximum number of results per request. */
const MOST_HITS = 30
const isCut = ({ spoken, ...named }: Found): boolean =>
  spoken.length >= MOST_HITS || countOf({ ...named, spoken: [] }) >= MOST_HITS

/** The previous results stay until the next reply; a new search aborts the previous request. */
function useSearch(text: string) {
  const [found, setFound] = useState<Found | undefined>(() => cachedValue<Found>(`search/${text}`))
  const [failure, setFailure] = useState<Failure>()
  const [answered, setAnswered] = useState('')
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (text === '') {
      setFound(undefined)
      setFailure(undefined)
      setAnswered('')
      return
    }
    const ending = new AbortController()
    const ask = async () => {
      try {
        const now = await search(text, ending.signal)
        cache(`search/${text}`, now)
        setFound(now)
        setFailure(undefined)
        setAnswered(text)
      } catch (error) {
        if (!isAborted(error)) setFailure(toFailure(error))
      }
    }
    const timer = setTimeout(ask, REST_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text, round])
  return { found, failure, isBusy: answered !== text, retry: () => setRound(round + 1) }
}

/** Plain words are also searched in subtitles. */
async function search(text: string, signal: AbortSignal): Promise<Found> {
  const asked = readSearch(text)
  const ask = async (query: string) =>
    (await get<{ results: SearchResults }>('/api/search/', { query }, signal)).results
  const isPlain = asked.type === 'simple' && asked.term !== ''
  const [named, said] = await Promise.all([ask(text), isPlain ? ask(writeSearch(ofType(asked, 'full'))) : undefined])
  return {
    videos: rowsOf(named.video_results.map(toVideoRow)),
    channels: named.channel_results,
    playlists: named.playlist_results,
    spoken: said?.fulltext_results ?? named.fulltext_results,
    comments: named.comment_results ?? [],
  }
}

function Results({ found, asked, isBusy }: { found: Found; asked: Asked; isBusy: boolean }) {
  if (countOf(found) === 0)
    return <Empty icon={SearchX} title={t('search.none', { text: writeSearch(asked) })} text={t('search.none.text')} />
  const { videos, channels, playlists } = found
  const isShown = ({ platform_id: id }: { platform_id: string }) => !deleted.value.has(id)
  const [spoken, comments] = [found.spoken.filter(isShown), found.comments.filter(isShown)]
  return (
    <div class="found" aria-busy={isBusy}>
      {channels.length > 0 && (
        <section>
          <h2>{t('nav.channels')}</h2>
          <ul class="found-names">
            {channels.map((channel) => (
              <Name
                key={channel.channel_id}
                href={`/channel/${channel.channel_id}/`}
                picture={<Portrait url={channel.channel_thumb_url} name={channel.channel_name} size={48} />}
                name={channel.channel_name}
                note={t(channel.channel_subscribed ? 'search.subscribed' : 'search.notSubscribed')}
              />
            ))}
          </ul>
        </section>
      )}
      {playlists.length > 0 && (
        <section>
          <h2>{t('nav.playlists')}</h2>
          <ul class="found-names">
            {playlists.map((playlist) => (
              <Name
                key={playlist.playlist_id}
                href={`/playlist/${playlist.playlist_id}/`}
                picture={
                  <span class="found-picture">
                    <Icon node={ListVideo} />
                    <img src={small(playlist.playlist_thumbnail)} alt="" loading="lazy" />
                  </span>
                }
                name={playlist.playlist_name}
                note={playlist.playlist_channel ?? t('count.videos', { count: playlist.playlist_entries.length })}
              />
            ))}
          </ul>
        </section>
      )}
      {videos.rows.value.length > 0 && <Videos key={asked.type} list={videos} isShort={spoken.length > 0} />}
      {spoken.length > 0 && (
        <section>
          <div class="found-head">
            <h2>{t('search.spoken')}</h2>
            {isThere('said') && (
              <a
                class="button plain"
                href={under(`/said/?q=${encodeURIComponent(writeSearch(ofType(asked, 'full')))}`)}
              >
                <Icon node={ListVideo} />
                {t('clips.playAll')}
              </a>
            )}
          </div>
          <ul class="hits">
            {spoken.map((hit) => (
              <Hit key={hit.subtitle_fragment_id} hit={hit} />
            ))}
          </ul>
        </section>
      )}
      {comments.length > 0 && (
        <section>
          <h2>{t('video.comments')}</h2>
          <ul class="hits">
            {comments.map((hit) => (
              <Remark key={`${hit.platform_id} ${hit.comment_id}`} hit={hit} />
            ))}
          </ul>
        </section>
      )}
      {isCut(found) && <p class="end-of-list">{t('search.limited', { count: MOST_HITS })}</p>}
    </div>
  )
}

/** A channel or playlist in the results. */
function Name(found: { href: string; picture: ComponentChild; name: string; note: string }) {
  return (
    <li>
      <a href={under(found.href)}>
        {found.picture}
        <span>
          <strong dir="auto">{found.name}</strong>
          <span class="meta">{found.note}</span>
        </span>
      </a>
    </li>
  )
}

/** Shortened if there are other results, so that many videos do not push the subtitle hits out of sight. */
function Videos({ list, isShort }: { list: Rows<VideoRow>; isShort: boolean }) {
  const rows = list.rows.value
  const [isWhole, setWhole] = useState(false)
  const isList = matchMedia('(max-width: 719px)').matches
  const shown = isShort && !isWhole ? rows.slice(0, FEW) : rows
  return (
    <section>
      <h2>{t('search.kind.video')}</h2>
      <ul class={isList ? 'found-videos rows' : 'found-videos'}>
        {shown.map((row) => (
          <li key={row.id}>
            <VideoCard
              row={row}
              isList={isList}
              onWatched={(one) => void toggleWatched(one)}
              choosing={choosingIn(list, row)}
              actions={videoActions(row, () => list.drop(row.id))}
            />
          </li>
        ))}
      </ul>
      {shown.length < rows.length && (
        <div>
          <Button onClick={() => setWhole(true)}>{t('search.all', { count: rows.length })}</Button>
        </div>
      )}
      <SelectionBar list={list} />
    </section>
  )
}

function HitPicture({ to, url }: { to: string; url: string }) {
  return (
    <a class="picture" href={to} tabIndex={-1} aria-hidden="true">
      <img src={small(url)} alt="" width={320} height={180} loading="lazy" />
    </a>
  )
}

function Remark({ hit }: { hit: CommentHit }) {
  const to = under(`/video/${hit.platform_id}/?comment=${encodeURIComponent(hit.comment_id)}`)
  return (
    <li class="hit">
      <HitPicture to={to} url={hit.vid_thumb_url} />
      <div class="hit-text">
        <a class="hit-line" dir="auto" href={to}>
          <Marked line={hit.comment_text} />
        </a>
        <p class="meta">
          <span dir="auto">
            <Marked line={hit.comment_author} />
          </span>
          {hit.comment_timestamp > 0 && <span>{toAge(hit.comment_timestamp)}</span>}
          <span dir="auto">{shownTitle(hit.platform_id, hit.title)}</span>
        </p>
      </div>
    </li>
  )
}

function Hit({ hit }: { hit: SubtitleHit }) {
  const seconds = toSeconds(hit.subtitle_start)
  const to = under(`/video/${hit.platform_id}/?t=${seconds}`)
  const title = shownTitle(hit.platform_id, hit.title)
  return (
    <li class="hit">
      <HitPicture to={to} url={hit.vid_thumb_url} />
      <div class="hit-text">
        <p class="hit-line" dir="auto">
          <Marked line={hit.subtitle_line} />
        </p>
        <p class="meta">
          <span dir="auto">{title}</span>
          <a href={channelHref(hit.subtitle_channel_id)}>{hit.subtitle_channel}</a>
        </p>
      </div>
      <a class="button" href={to} aria-label={t('search.playFrom', { time: toClock(seconds), title })}>
        <Icon node={Play} size={16} />
        {toClock(seconds)}
      </a>
    </li>
  )
}

function Waiting() {
  return (
    <div class="found">
      <section>
        <Box width="120px" height="20px" />
        <ul class="found-videos">
          {[0, 1, 2, 3].map((position) => (
            <li key={position}>
              <GhostCard />
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}

/** A sample word in the examples of the syntax; a click on an example selects it, so that typing replaces it. */
const SAMPLE = 'bread'
const OTHER = 'mill'

type Example = [
  key:
    | 'video'
    | 'ofChannel'
    | 'gone'
    | 'channel'
    | 'subscribed'
    | 'playlist'
    | 'full'
    | 'lang'
    | 'source'
    | 'comment'
    | 'fuzzy',
  write: (term: string) => string,
]
const EXAMPLES: Example[] = [
  ['full', (term) => `full:${term}`],
  ['lang', (term) => `full:${term} lang:en`],
  ['source', (term) => `full:${term} source:user`],
  ['comment', (term) => `comment:${term}`],
  ['video', (term) => `video:${term}`],
  ['ofChannel', (term) => `video:${term} channel:${OTHER}`],
  ['gone', () => 'video: active:no'],
  ['channel', (term) => `channel:${term}`],
  ['subscribed', () => 'channel: subscribed:yes'],
  ['playlist', (term) => `playlist:${term}`],
  ['fuzzy', (term) => `${term} fuzzy:no`],
]

function Language({ asked }: { asked: Asked }) {
  return (
    <div class="language">
      <h2>{t('search.byExample')}</h2>
      <ul>
        {EXAMPLES.map(([key, write]) => {
          const text = write(asked.term || SAMPLE)
          return (
            <li key={key}>
              <button
                type="button"
                onClick={() => insert(text, text.includes(OTHER) ? OTHER : asked.term === '' ? SAMPLE : undefined)}
              >
                <code>{text}</code>
                <span>{t(`search.example.${key}`)}</span>
              </button>
            </li>
          )
        })}
      </ul>
      <p class="hint">{t('search.rules')}</p>
    </div>
  )
}

/**
 * Puts a text into the search field.
 * @param part  the part of the text to select in the field
 */
function insert(text: string, part?: string): void {
  navigate(text === '' ? '/search/' : `/search/?q=${encodeURIComponent(text)}`, { isReplacing: true })
  const field = document.querySelector<HTMLInputElement>('#search')
  if (!field) return
  onceRendered(() => {
    field.focus()
    const at = part === undefined ? -1 : text.indexOf(part)
    if (at === -1) field.setSelectionRange(text.length, text.length)
    else field.setSelectionRange(at, at + part!.length)
  })
}
