/** The settings of one channel that differ from the general ones: saved immediately, and reset by "as everywhere". */

import { useEffect, useState } from 'preact/hooks'
import { Box, Failed } from '../../parts/states.tsx'
import { sayFailure } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import type { Channel, ChannelOverwrites, Preferences } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { type Load, useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { Advanced, Group, LanguagesOption, SelectOption, SwitchOption, TextOption } from '../settings/option.tsx'
import { preferenceSchema, preferencesPerChannel, usePreferences } from '../settings/preferences.ts'
import type { SchemaOption } from '../settings/schema-option.tsx'

type Changes = { [Key in keyof ChannelOverwrites]: ChannelOverwrites[Key] | null }

const HEIGHTS: readonly string[] = ['2160', '1440', '1080', '720', '480']
const BEST = 'bv*+ba/b'
const DAYS = [7, 14, 30, 90, 365]
const SIZES = [10, 50, 200, 1000]
const TABS = [
  { tab: 'videos', key: 'subscriptions_channel_size', everywhere: 'channel_size' },
  { tab: 'streams', key: 'subscriptions_live_channel_size', everywhere: 'live_channel_size' },
  { tab: 'shorts', key: 'subscriptions_shorts_channel_size', everywhere: 'shorts_channel_size' },
] as const

export function ChannelSettings({ channel, load }: { channel: Channel; load: Load<Channel> }) {
  const preferences = usePreferences()
  const { state, value: everywhere, failure } = preferences.now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={() => preferences.reload()} />
  if (!everywhere) return <Box height="320px" radius="10px" />
  const own = channel.channel_overwrites
  const save = async (changes: Changes) => {
    await post(`/api/channel/${channel.channel_id}/`, { channel_overwrites: changes })
    load.change((now) => ({ ...now, channel_overwrites: applied(now.channel_overwrites, changes) }))
  }
  const props = { own, everywhere, save }
  return (
    <div class="channel-settings">
      <p class="hint">{t('channel.settings.lead')}</p>
      <Quality {...props} />
      <Scans {...props} />
      <Afterwards {...props} />
      {isThere('perchannel') && <OfPlugins channelId={channel.channel_id} />}
    </div>
  )
}

function applied(own: ChannelOverwrites, changes: Changes): ChannelOverwrites {
  return Object.fromEntries(
    Object.entries({ ...own, ...changes }).filter(([, value]) => value !== null && value !== undefined),
  ) as ChannelOverwrites
}

interface PartProps {
  own: ChannelOverwrites
  everywhere: Preferences
  save: (changes: Changes) => Promise<void>
}

const CODECS = ['best', 'compatible', 'smallest', 'sound'] as const
const MISSING = ['below', 'wait', 'skip'] as const

function Quality({ own, save }: PartProps) {
  const { download_format: format, quality_height: height, quality_hdr: hdr } = own
  const most = height === undefined ? '' : height === false ? 'best' : String(height)
  const value = format === undefined ? most : 'own'
  const heights = [...(most === '' || most === 'best' || HEIGHTS.includes(most) ? [] : [most]), ...HEIGHTS]
  const choices = [
    { value: '', label: t('channel.everywhere') },
    { value: 'best', label: t('channel.quality.best') },
    ...heights.map((lines) => ({ value: lines, label: t('channel.quality.most', { lines }) })),
    ...(value === 'own' ? [{ value: 'own', label: t('channel.quality.own') }] : []),
  ]
  return (
    <Group title={t('channel.quality')}>
      <SelectOption
        label={t('channel.quality.label')}
        hint={t('channel.quality.hint')}
        value={value}
        choices={choices}
        onSave={async (chosen) => {
          if (chosen === 'own') return
          const chosenHeight = chosen === '' ? null : chosen === 'best' ? false : Number(chosen)
          await save({ download_format: null, quality_height: chosenHeight })
        }}
      />
      <SelectOption
        label={t('channel.quality.codec')}
        value={own.quality_codec ?? ''}
        choices={[
          { value: '', label: t('channel.everywhere') },
          ...CODECS.map((codec) => ({ value: codec, label: t(`channel.quality.codec.${codec}`) })),
        ]}
        onSave={(codec) => save({ quality_codec: codec === '' ? null : codec })}
      />
      <SelectOption
        label={t('channel.quality.hdr')}
        value={hdr === undefined ? '' : hdr ? 'on' : 'off'}
        choices={[
          { value: '', label: t('channel.everywhere') },
          { value: 'on', label: t('channel.quality.hdr.on') },
          { value: 'off', label: t('channel.quality.hdr.off') },
        ]}
        onSave={(chosen) => save({ quality_hdr: chosen === '' ? null : chosen === 'on' })}
      />
      <LanguagesOption
        label={t('channel.quality.language')}
        hint={t('channel.quality.language.hint')}
        isOne
        field="channel_overwrites.quality_language"
        value={own.quality_language || ''}
        onSave={(language) => save({ quality_language: language === '' ? null : language })}
      />
      <SelectOption
        label={t('channel.quality.missing')}
        value={own.quality_missing ?? ''}
        choices={[
          { value: '', label: t('channel.everywhere') },
          ...MISSING.map((one) => ({ value: one, label: t(`channel.quality.missing.${one}`) })),
        ]}
        onSave={(missing) => save({ quality_missing: missing === '' ? null : missing })}
      />
      <Advanced title={t('channel.advanced')}>
        <TextOption
          label={t('channel.format')}
          hint={t('channel.format.hint')}
          placeholder={BEST}
          field="channel_overwrites.download_format"
          isWide
          isCode
          value={format ?? ''}
          onSave={(text) => save({ download_format: text === '' ? null : text })}
        />
      </Advanced>
    </Group>
  )
}

function Scans({ own, everywhere: { subscriptions }, save }: PartProps) {
  return (
    <Group title={t('channel.scans')} hint={t('channel.scans.hint')}>
      {TABS.map(({ tab, key, everywhere }) => {
        const general = subscriptions[everywhere]
        const value = own[key]
        const sizes =
          value !== undefined && value > 0 && !SIZES.includes(value)
            ? [...SIZES, value].sort((one, other) => one - other)
            : SIZES
        return (
          <SelectOption
            key={tab}
            label={t(`home.type.${tab}`)}
            value={value === undefined ? '' : String(value)}
            choices={[
              {
                value: '',
                label:
                  general === 0 ? t('channel.everywhere.none') : t('channel.everywhere.newest', { count: general }),
              },
              { value: '0', label: t('channel.scans.none') },
              ...sizes.map((count) => ({ value: String(count), label: t('channel.scans.newest', { count }) })),
            ]}
            onSave={(chosen) => save({ [key]: chosen === '' ? null : Number(chosen) })}
          />
        )
      })}
      <SwitchOption
        label={t('channel.playlistsToo')}
        hint={t('channel.playlistsToo.hint')}
        value={own.index_playlists === true}
        onSave={(isOn) => save({ index_playlists: isOn ? true : null })}
      />
    </Group>
  )
}

function Afterwards({ own, everywhere: { downloads }, save }: PartProps) {
  const { autodelete_days: days, integrate_sponsorblock: skips } = own
  const all =
    days !== undefined && days > 0 && !DAYS.includes(days) ? [...DAYS, days].sort((one, other) => one - other) : DAYS
  return (
    <Group title={t('channel.afterwards')}>
      <SelectOption
        label={t('channel.autodelete')}
        hint={t('channel.autodelete.hint')}
        value={days === undefined ? '' : String(days)}
        choices={[
          {
            value: '',
            label:
              downloads.autodelete_days === false
                ? t('channel.everywhere.never')
                : t('channel.everywhere.days', { count: downloads.autodelete_days }),
          },
          { value: '0', label: t('channel.autodelete.never') },
          ...all.map((count) => ({ value: String(count), label: t('channel.autodelete.days', { count }) })),
        ]}
        onSave={(chosen) => save({ autodelete_days: chosen === '' ? null : Number(chosen) })}
      />
      <SelectOption
        label={t('channel.skips')}
        hint={t('channel.skips.hint')}
        value={skips === undefined ? '' : skips ? 'on' : 'off'}
        choices={[
          {
            value: '',
            label: downloads.integrate_sponsorblock ? t('channel.everywhere.on') : t('channel.everywhere.off'),
          },
          { value: 'on', label: t('channel.skips.on') },
          { value: 'off', label: t('channel.skips.off') },
        ]}
        onSave={(chosen) => save({ integrate_sponsorblock: chosen === '' ? null : chosen === 'on' })}
      />
    </Group>
  )
}

type Own = Record<string, Record<string, unknown>>

/** Preferences of plugins for which a channel may have its own value. */
function OfPlugins({ channelId }: { channelId: string }) {
  const path = `/api/channel/${channelId}/preference/`
  const own = useLoad<Own>(`channel/preference ${channelId}`, (signal) => get(path, {}, signal))
  const { value: values } = own.now.value
  const names = preferencesPerChannel()
  const isAny = names.length > 0
  // Loaded only if it is needed, because the first load includes every module that two views import.
  const [Option, setOption] = useState<typeof SchemaOption>()
  useEffect(() => {
    if (isAny)
      import('../settings/schema-option.tsx').then((loaded) => setOption(() => loaded.SchemaOption), sayFailure)
  }, [isAny])
  if (!values || !Option || !isAny) return null
  const save = async (section: string, key: string, value: unknown) => {
    const changed = await post<Own>(path, { [section]: { [key]: value ?? null } })
    own.change(() => changed)
  }
  return (
    <Group title={t('channel.ofPlugins')} hint={t('channel.ofPlugins.hint')}>
      {names.map(({ section, key }) => {
        const name = `${section}.${key}`
        return (
          <Option
            key={name}
            name={`preference.${name}`}
            field={name}
            schema={preferenceSchema(name)}
            value={values[section]?.[key]}
            unset={t('channel.everywhere')}
            onSave={(value) => save(section, key, value)}
          />
        )
      })}
    </Group>
  )
}
