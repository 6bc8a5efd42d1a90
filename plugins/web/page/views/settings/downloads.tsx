/** What is downloaded, in words; the rules of yt-dlp only under "advanced". */
import { confirm } from '../../parts/dialog.tsx'
import { t } from '../../texts/texts.ts'
import { type Change, type Config, type OpenConfig, readQuality, useConfig, writeQuality } from './config.ts'
import { Loaded } from './loaded.tsx'
import { Advanced, Group, NumberOption, SelectOption, SwitchOption, TextOption } from './option.tsx'

const HEIGHTS = ['', '2160', '1440', '1080', '720', '480'] as const
const COMMENTS = ['', '100', '1000', 'all'] as const
type Downloads = Config['downloads']

export function DownloadsSection() {
  const config = useConfig()
  return (
    <Loaded from={config} height="640px">
      {({ downloads }) => {
        const save = (change: Partial<Downloads>) => config.save({ downloads: change } satisfies Change)
        return (
          <>
            <QualityGroup downloads={downloads} save={save} />
            <SubtitlesGroup downloads={downloads} save={save} />
            <CommentsGroup downloads={downloads} save={save} />
            <PaceGroup downloads={downloads} save={save} />
            <AfterwardsGroup downloads={downloads} save={save} />
            <Advanced>
              <Group title={t('settings.rules')} hint={t('settings.rules.hint')}>
                <TextOption
                  isCode
                  isWide
                  label={t('settings.format')}
                  hint={t('settings.format.hint')}
                  field="downloads.format"
                  wrong={t('settings.format.wrong')}
                  placeholder="bv*+ba[ext=m4a]/bv*+ba/b"
                  value={downloads.format || ''}
                  onSave={(format) => save({ format: format || false })}
                />
                <TextOption
                  isCode
                  isWide
                  label={t('settings.formatSort')}
                  hint={t('settings.formatSort.hint')}
                  field="downloads.format_sort"
                  wrong={t('settings.formatSort.wrong')}
                  placeholder="res:1080,vcodec:h264"
                  value={downloads.format_sort || ''}
                  onSave={(order) => save({ format_sort: order || false })}
                />
                <NumberOption
                  label={t('settings.throttled')}
                  hint={t('settings.throttled.hint')}
                  unit={t('settings.kib')}
                  min={1}
                  max={10_000_000}
                  field="downloads.throttledratelimit"
                  value={downloads.throttledratelimit}
                  empty={false}
                  onSave={(rate) => save({ throttledratelimit: rate })}
                />
              </Group>
            </Advanced>
          </>
        )
      }}
    </Loaded>
  )
}

interface PartProps {
  downloads: Downloads
  save: (change: Partial<Downloads>) => ReturnType<OpenConfig['save']>
}

function QualityGroup({ downloads, save }: PartProps) {
  const quality = readQuality(downloads)
  const isOwn = quality.height === 'own'
  const heights = [...(isOwn ? ['own' as const] : []), ...HEIGHTS]
  return (
    <Group title={t('settings.quality')}>
      <SelectOption
        label={t('settings.height')}
        hint={t(isOwn ? 'settings.height.ownHint' : 'settings.height.hint')}
        value={quality.height}
        choices={heights.map((value) => ({
          value,
          label:
            value === ''
              ? t('settings.height.best')
              : value === 'own'
                ? t('settings.height.own')
                : t('settings.height.most', { lines: value }),
        }))}
        onSave={async (height) => {
          if (height !== 'own')
            await save({ format: false, format_sort: writeQuality({ height, isPlayable: quality.isPlayable }) })
        }}
      />
      {!isOwn && (
        <SwitchOption
          label={t('settings.playable')}
          hint={t('settings.playable.hint')}
          value={quality.isPlayable}
          onSave={(isPlayable) => save({ format_sort: writeQuality({ ...quality, isPlayable }) })}
        />
      )}
      <SwitchOption
        label={t('settings.addMetadata')}
        hint={t('settings.addMetadata.hint')}
        value={downloads.add_metadata}
        onSave={(on) => save({ add_metadata: on })}
      />
      <SwitchOption
        label={t('settings.addThumbnail')}
        value={downloads.add_thumbnail}
        onSave={(on) => save({ add_thumbnail: on })}
      />
      <TextOption
        label={t('settings.titleLanguage')}
        hint={t('settings.titleLanguage.hint')}
        placeholder="en"
        field="downloads.extractor_lang"
        wrong={t('settings.titleLanguage.wrong')}
        value={downloads.extractor_lang || ''}
        onSave={(language) => save({ extractor_lang: language || false })}
      />
    </Group>
  )
}

function SubtitlesGroup({ downloads, save }: PartProps) {
  const isOn = downloads.subtitle !== false
  return (
    <Group title={t('settings.subtitles')}>
      <SwitchOption
        label={t('settings.subtitles.on')}
        value={isOn}
        onSave={(on) =>
          save(
            on
              ? { subtitle: 'en', subtitle_source: downloads.subtitle_source || 'user', subtitle_index: true }
              : { subtitle: false },
          )
        }
      />
      {isOn && (
        <>
          <TextOption
            label={t('settings.subtitles.languages')}
            hint={t('settings.subtitles.languages.hint')}
            field="downloads.subtitle"
            wrong={t('settings.subtitles.languages.wrong')}
            value={downloads.subtitle || ''}
            onSave={(languages) => save({ subtitle: languages || false })}
          />
          <SelectOption
            label={t('settings.subtitles.source')}
            value={downloads.subtitle_source || 'user'}
            choices={(['user', 'auto'] as const).map((value) => ({
              value,
              label: t(`settings.subtitles.source.${value}`),
            }))}
            onSave={(source) => save({ subtitle_source: source })}
          />
          <SwitchOption
            label={t('settings.subtitles.index')}
            hint={t('settings.subtitles.index.hint')}
            value={downloads.subtitle_index}
            onSave={(on) => save({ subtitle_index: on })}
          />
        </>
      )}
    </Group>
  )
}

function CommentsGroup({ downloads, save }: PartProps) {
  const most = downloads.comment_max || ''
  const isOwn = !COMMENTS.includes(most as (typeof COMMENTS)[number])
  const choices = [...(isOwn ? [most] : []), ...COMMENTS].map((value) => ({
    value,
    label:
      value === ''
        ? t('settings.comments.none')
        : value === 'all'
          ? t('settings.comments.all')
          : t('settings.comments.most', { number: value }),
  }))
  return (
    <Group title={t('settings.comments')}>
      <SelectOption
        label={t('settings.comments.keep')}
        value={most}
        choices={choices}
        onSave={(value) => save({ comment_max: value || false })}
      />
      {most !== '' && (
        <SelectOption
          label={t('settings.comments.sort')}
          value={downloads.comment_sort}
          choices={(['top', 'new'] as const).map((value) => ({ value, label: t(`settings.comments.sort.${value}`) }))}
          onSave={(value) => save({ comment_sort: value })}
        />
      )}
    </Group>
  )
}

function PaceGroup({ downloads, save }: PartProps) {
  return (
    <Group title={t('settings.pace')}>
      <NumberOption
        label={t('settings.sleep')}
        hint={t('settings.sleep.hint')}
        unit={t('settings.seconds')}
        min={0}
        max={3600}
        field="downloads.sleep_interval"
        value={downloads.sleep_interval}
        empty={false}
        onSave={(seconds) => save({ sleep_interval: seconds })}
      />
      <NumberOption
        label={t('settings.speed')}
        hint={t('settings.noLimit')}
        unit={t('settings.kib')}
        min={1}
        max={10_000_000}
        field="downloads.limit_speed"
        value={downloads.limit_speed}
        empty={false}
        onSave={(rate) => save({ limit_speed: rate })}
      />
    </Group>
  )
}

function AfterwardsGroup({ downloads, save }: PartProps) {
  const change = async (days: number | false) => {
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
      <NumberOption
        label={t('settings.autodelete')}
        hint={t('settings.autodelete.hint')}
        unit={t('settings.days')}
        min={1}
        max={36_500}
        field="downloads.autodelete_days"
        value={downloads.autodelete_days}
        empty={false}
        onSave={change}
      />
    </Group>
  )
}
