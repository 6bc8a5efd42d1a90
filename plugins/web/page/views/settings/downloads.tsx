/** Settings of downloads in words; yt-dlp's own rules are under "advanced". */
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say, sayFailure } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { getAll } from '../../server/paged.ts'
import type { Channel, Page, Preferences, Video } from '../../server/records.ts'
import { countOf, isSome } from '../../stores/list.ts'
import { toNumber } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Advanced, Group, SelectOption, SwitchOption } from './option.tsx'
import { Preference, PreferenceGroup } from './preference-options.tsx'
import { type Change, type OpenPreferences, preferenceWords, usePreferences } from './preferences.ts'

const HEIGHTS: readonly string[] = ['', '2160', '1440', '1080', '720', '480']
const COMMENTS = ['', '100', '1000', 'all'] as const
type Downloads = Preferences['downloads']

export function DownloadsSection() {
  const preferences = usePreferences()
  return (
    <Loaded from={preferences} height="640px">
      {({ downloads }) => {
        const save = (change: Partial<Downloads>) => preferences.save({ downloads: change } satisfies Change)
        return (
          <>
            <QualityGroup preferences={preferences} downloads={downloads} save={save} />
            <SubtitlesGroup preferences={preferences} downloads={downloads} save={save} />
            <CommentsGroup preferences={preferences} downloads={downloads} save={save} />
            <PaceGroup preferences={preferences} downloads={downloads} save={save} />
            <AfterwardsGroup preferences={preferences} downloads={downloads} save={save} />
            <Advanced>
              <Group title={t('settings.ytdlp')} hint={t('settings.ytdlp.hint')}>
                <PreferenceGroup preferences={preferences} group="rules" />
              </Group>
              <Group title={t('settings.route')} hint={t('settings.route.hint')}>
                <PreferenceGroup preferences={preferences} group="route" />
              </Group>
            </Advanced>
          </>
        )
      }}
    </Loaded>
  )
}

interface PartProps {
  preferences: OpenPreferences
  downloads: Downloads
  save: (change: Partial<Downloads>) => ReturnType<OpenPreferences['save']>
}

/** Preferences that have no effect while a rule of yt-dlp overrides them. */
const WORDS = ['codec', 'hdr', 'language', 'missing', 'wait_days'].map((key) => `downloads.quality_${key}`)

function QualityGroup({ preferences, downloads, save }: PartProps) {
  const isOwn = downloads.format !== false || downloads.format_sort !== false
  const most = downloads.quality_height === false ? '' : String(downloads.quality_height)
  const value = isOwn ? 'own' : most
  const heights = [...(isOwn ? ['own'] : []), ...(HEIGHTS.includes(most) ? [] : [most]), ...HEIGHTS]
  const isWaiting = downloads.quality_missing === 'wait'
  return (
    <Group title={t('settings.quality')}>
      <SelectOption
        label={t('settings.height')}
        hint={t(isOwn ? 'settings.height.ownHint' : 'settings.height.hint')}
        value={value}
        choices={heights.map((height) => ({
          value: height,
          label:
            height === ''
              ? t('settings.height.best')
              : height === 'own'
                ? t('settings.height.own')
                : t('settings.height.most', { lines: height }),
        }))}
        onSave={async (height) => {
          if (height === 'own') return
          await save({ format: false, format_sort: false, quality_height: height === '' ? false : Number(height) })
        }}
      />
      <PreferenceGroup
        preferences={preferences}
        group="quality"
        except={isOwn ? WORDS : isWaiting ? [] : ['downloads.quality_wait_days']}
      />
    </Group>
  )
}

/** Offers a refresh that downloads subtitles of videos from before subtitles were enabled. */
async function offerForArchived(): Promise<void> {
  const count = countOf((await get<Page<Video>>('/api/video/')).paginate)
  if (!isSome(count)) return
  const isWanted = await confirm({
    title: t('settings.subtitles.archived', { count }),
    text: <p>{t('settings.subtitles.archived.text')}</p>,
    action: t('settings.subtitles.archived.do'),
  })
  if (!isWanted) return
  await post('/api/refresh/', { channel: await allChannels() }, { extract_videos: true })
  say(t('settings.subtitles.archived.begun'))
}

async function allChannels(): Promise<string[]> {
  const channels = await getAll<Channel>('/api/channel/', {})
  return channels.map(({ channel_id }) => channel_id)
}

function SubtitlesGroup({ preferences, downloads, save }: PartProps) {
  const isOn = downloads.subtitle !== false
  return (
    <Group title={t('settings.subtitles')}>
      <SwitchOption
        label={t('settings.subtitles.on')}
        value={isOn}
        onSave={async (on) => {
          await save(
            on
              ? { subtitle: 'en', subtitle_source: downloads.subtitle_source || 'user', subtitle_index: true }
              : { subtitle: false },
          )
          if (on) void offerForArchived().catch(sayFailure)
        }}
      />
      {isOn && (
        <>
          <Preference preferences={preferences} name="downloads.subtitle" />
          <SelectOption
            label={t('settings.subtitles.source')}
            value={downloads.subtitle_source || 'user'}
            choices={(['user', 'auto'] as const).map((value) => ({
              value,
              label: t(`settings.subtitles.source.${value}`),
            }))}
            onSave={(source) => save({ subtitle_source: source })}
          />
          <PreferenceGroup preferences={preferences} group="subtitles" except={['downloads.subtitle']} />
        </>
      )}
    </Group>
  )
}

function CommentsGroup({ preferences, downloads, save }: PartProps) {
  const most = downloads.comment_max || ''
  const isOwn = !COMMENTS.includes(most as (typeof COMMENTS)[number])
  const choices = [...(isOwn ? [most] : []), ...COMMENTS].map((value) => ({
    value,
    label:
      value === ''
        ? t('settings.comments.none')
        : value === 'all'
          ? t('settings.comments.all')
          : t('settings.comments.most', { number: Number(value) ? toNumber(Number(value)) : value }),
  }))
  return (
    <Group title={t('settings.comments')}>
      <SelectOption
        label={preferenceWords('downloads.comment_max').label}
        value={most}
        choices={choices}
        onSave={(value) => save({ comment_max: value || false })}
      />
      {most !== '' && <PreferenceGroup preferences={preferences} group="comments" except={['downloads.comment_max']} />}
    </Group>
  )
}

const PaceGroup = ({ preferences }: PartProps) => (
  <Group title={t('settings.pace')}>
    <PreferenceGroup preferences={preferences} group="pace" />
  </Group>
)

function AfterwardsGroup({ preferences, downloads, save }: PartProps) {
  const change = async (wanted: unknown) => {
    const days = wanted as number | false
    const isMore = days !== false && (downloads.autodelete_days === false || days < downloads.autodelete_days)
    const isWanted =
      !isMore ||
      (await confirm({
        title: t('settings.autodelete.title'),
        text: <p>{t('settings.autodelete.text', { count: Number(days) })}</p>,
        action: t('settings.autodelete.do'),
        isDangerous: true,
      }))
    if (isWanted) await save({ autodelete_days: days })
    return isWanted
  }
  return (
    <Group title={t('settings.afterwards')}>
      <Preference preferences={preferences} name="downloads.autodelete_days" onSave={change} />
      <PreferenceGroup preferences={preferences} group="afterwards" except={['downloads.autodelete_days']} />
    </Group>
  )
}
