/** The reason why nothing plays, and the remedies: a copy, another program, audio only, downloading again. */

import { ArrowDownToLine } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { stopReasonOf } from '../parts/stop-reason.ts'
import { get, toFailure } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { PlatformState, Video } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { useLoad } from '../stores/load.ts'
import { isAdmin, seesAll } from '../stores/session.ts'
import { toPercent } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { namesOf } from './codecs.ts'
import { fetchAgain } from './download-again.ts'
import type { Machine } from './machine.ts'
import { copied } from './playable-copy.ts'
import type { PlayerFailure } from './source.ts'

interface Props {
  kind: PlayerFailure
  video: Video
  machine: Machine
  /** Called when the film has a playable file again. */
  onFile: () => void
}

export function PlayFailure({ kind, video, machine, onFile }: Props) {
  return (
    <div class="player-failure" role="alert">
      {kind === 'missing' && isAdmin.value ? (
        <Missing video={video} machine={machine} onFile={onFile} />
      ) : (
        <Plain kind={kind} video={video} machine={machine} onFile={onFile} />
      )}
    </div>
  )
}

function Plain({ kind, video, machine, onFile }: Props) {
  const isUnknown = kind === 'format' || kind === 'picture'
  const names = namesOf(kind === 'picture' ? video.streams.filter(({ type }) => type === 'video') : video.streams)
  return (
    <>
      <p>
        {kind === 'picture' || (kind === 'format' && names !== '')
          ? t(`player.failed.${kind}Of`, { names })
          : t(`player.failed.${kind as 'missing'}`)}
      </p>
      <div class="steps">
        {kind === 'picture' && <Button onClick={machine.listen}>{t('player.listen')}</Button>}
        {isUnknown && seesAll.value && isThere('playable') && (
          <MakeCopy video={video} machine={machine} onFile={onFile} />
        )}
        {isUnknown ? (
          <a class="button" href={under(video.media_url)} download>
            {t('player.file')}
          </a>
        ) : (
          <Button onClick={machine.again}>{t('action.retry')}</Button>
        )}
      </div>
    </>
  )
}

/** Everyone except children may request a copy. If a copy does not play either, it is made again from scratch. */
function MakeCopy({ video, machine, onFile }: Omit<Props, 'kind'>) {
  const [fraction, setFraction] = useState<number>()
  const [error, setError] = useState<string>()
  const [ending] = useState(() => new AbortController())
  useEffect(() => () => ending.abort(), [])
  const make = async () => {
    setError(undefined)
    setFraction(0)
    try {
      const url = await copied(video, setFraction, ending.signal)
      machine.playCopy(url)
      onFile()
    } catch (thrown) {
      if (!ending.signal.aborted) setError(toFailure(thrown).message)
    }
    setFraction(undefined)
  }
  if (fraction === undefined)
    return (
      <>
        {error !== undefined && <p>{error}</p>}
        <Button onClick={make}>{t('player.copy')}</Button>
      </>
    )
  return (
    <p class="fetching">
      {fraction > 0 ? t('player.copied', { part: toPercent(fraction) }) : t('player.copying')}
      <progress max={1} value={fraction} aria-label={t('player.copying')} />
    </p>
  )
}

type State = { at: 'asked'; fraction?: number | undefined } | { at: 'failed'; message: string }

/** Only admins may download again. While the library or the platform is offline, the page tells them so instead. */
function Missing({ video, machine, onFile }: Omit<Props, 'kind'>) {
  const [state, setState] = useState<State>()
  const platform = useLoad('platform', (signal) => get<PlatformState>('/api/platform/', {}, signal))
  const [ending] = useState(() => new AbortController())
  useEffect(() => () => ending.abort(), [])
  const { value } = platform.now.value
  const stopReason = value && stopReasonOf(value)
  const fetch = async () => {
    setState({ at: 'asked' })
    try {
      await fetchAgain(video.platform_id, (fraction) => setState({ at: 'asked', fraction }), ending.signal)
      machine.again()
      onFile()
    } catch (error) {
      if (!ending.signal.aborted) setState({ at: 'failed', message: toFailure(error).message })
    }
  }
  const isBusy = state?.at === 'asked'
  return (
    <>
      <p>{t('player.failed.missing')}</p>
      {state?.at === 'failed' && <p>{state.message}</p>}
      {stopReason && (
        <p>
          {stopReason.title}. {stopReason.text}
        </p>
      )}
      {isBusy && (
        <p class="fetching">
          {state.fraction === undefined
            ? t('player.fetching')
            : t('player.fetched', { part: toPercent(state.fraction) })}
          <progress
            max={1}
            {...(state.fraction !== undefined && { value: state.fraction })}
            aria-label={t('player.fetching')}
          />
        </p>
      )}
      <div class="steps">
        {(stopReason || isBusy) && (
          <a class="button" href={under('/downloads/')}>
            {t('activity.show')}
          </a>
        )}
        {!stopReason && !isBusy && (
          <Button icon={ArrowDownToLine} onClick={fetch}>
            {t('player.downloadAgain')}
          </Button>
        )}
        {!isBusy && <Button onClick={machine.again}>{t('action.retry')}</Button>}
      </div>
    </>
  )
}
