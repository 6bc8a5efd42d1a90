/** Clips from a search in subtitles, played one after the other, with the list beside them. */
import { CaptionsOff, Link } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { changeQuery, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Button } from '../parts/button.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { copyLink } from '../parts/share.ts'
import { Empty } from '../parts/states.tsx'
import { get } from '../server/api.ts'
import { small, under } from '../server/base.ts'
import type { SaidClip, SaidClips } from '../server/records.ts'
import { useLoad } from '../stores/load.ts'
import { shownTitle } from '../stores/titles.ts'
import { toClock, toSpan } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { ClipPlayer } from './said/clip-player.tsx'
import { Files } from './said/files.tsx'
import { Marked } from './search/marked.tsx'

export default function SaidView() {
  const text = route.value.query.get('q') ?? ''
  const words = text.replace(/^full:/i, '').trim()
  const load = useLoad(`said/${text}`, (signal) => get<SaidClips>('/api/said/', { query: text }, signal))
  useTitle(t('clips.titleOf', { text: words }))
  return (
    <div class="said">
      <Loaded from={load} height="480px">
        {({ clips, is_more: isMore }) =>
          clips.length === 0 ? (
            <Empty isWhole icon={CaptionsOff} title={t('search.none', { text: words })} text={t('search.none.text')} />
          ) : (
            <Clips key={text} text={text} words={words} clips={clips} isMore={isMore} />
          )
        }
      </Loaded>
    </div>
  )
}

interface ClipsProps {
  text: string
  words: string
  clips: readonly SaidClip[]
  isMore: boolean
}

/** The address contains the current clip, so that a link to this page starts there. */
function Clips({ text, words, clips, isMore }: ClipsProps) {
  const asked = Number(route.value.query.get('at') ?? 1) - 1
  const at = Number.isInteger(asked) && asked >= 0 && asked < clips.length ? asked : 0
  const [broken, setBroken] = useState<ReadonlySet<number>>(new Set())
  const go = (to: number) => clips[to] && changeQuery({ at: to === 0 ? '' : String(to + 1) })
  const seconds = clips.reduce((sum, { start, end }) => sum + end - start, 0)
  return (
    <>
      <header class="said-head">
        <h1 dir="auto">{t('clips.titleOf', { text: words })}</h1>
        <p class="meta">
          <span>{t('clips.count', { count: isMore ? { moreThan: clips.length } : clips.length })}</span>
          <span>{toSpan(seconds)}</span>
        </p>
        <div class="buttons">
          <Button icon={Link} onClick={() => copyLink(location.href)}>
            {t('share.copy')}
          </Button>
          <a class="button quiet" href={under(`/search/?q=${encodeURIComponent(text)}`)}>
            {t('clips.back')}
          </a>
        </div>
      </header>
      <ClipPlayer
        clip={clips[at]!}
        onNext={at + 1 < clips.length ? () => go(at + 1) : undefined}
        onPrevious={at > 0 ? () => go(at - 1) : undefined}
        onBroken={() => setBroken((now) => new Set(now).add(at))}
      />
      <List clips={clips} at={at} broken={broken} onGo={go} />
      <Files text={text} />
    </>
  )
}

interface ListProps {
  clips: readonly SaidClip[]
  at: number
  /** Positions of clips whose film this browser cannot play. */
  broken: ReadonlySet<number>
  onGo: (to: number) => void
}

function List({ clips, at, broken, onGo }: ListProps) {
  const [box, setBox] = useState<HTMLOListElement | null>(null)
  useEffect(() => {
    const row = box?.children[at] as HTMLElement | undefined
    // Scrolls only the list, not the page.
    if (box && row) box.scrollTo({ top: row.offsetTop - box.clientHeight / 2, behavior: 'smooth' })
  }, [box, at])
  return (
    <ol class="said-list" aria-label={t('clips.clips')} ref={setBox}>
      {clips.map((clip, position) => (
        <li key={`${clip.platform_id} ${clip.start}`}>
          <button type="button" aria-current={position === at ? 'true' : undefined} onClick={() => onGo(position)}>
            <span class="picture">
              <img src={small(clip.vid_thumb_url)} alt="" width={320} height={180} loading="lazy" />
              <span class="duration">{toClock(clip.start)}</span>
            </span>
            <span class="said-words">
              <span class="said-line" dir="auto">
                <Marked line={clip.lines.join(' … ')} />
              </span>
              <span class="meta" dir="auto">
                {shownTitle(clip.platform_id, clip.title)}
              </span>
              {broken.has(position) && <span class="gone">{t('clips.broken')}</span>}
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}
