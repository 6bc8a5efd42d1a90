/** Where something comes from: the platform's name, and its page there. Plugins bring further platforms. */
import { ExternalLink } from 'lucide'
import type { Video } from '../server/records.ts'
import { t } from '../texts/lookup.ts'
import type { MenuItem } from './menu.tsx'

/** Of playlists, which no other platform has. */
export const YOUTUBE = 'YouTube'

type Origin = Pick<Video, 'platform_name' | 'platform_url'>

/** Of one whose plugin is away there is no name. */
export const platformOf = ({ platform_name: name }: Origin): string => name ?? t('platform.unknown')

export const originalItem = ({ platform_name: platform, platform_url: url }: Origin): MenuItem[] =>
  platform === undefined || url === undefined
    ? []
    : [
        {
          label: t('share.original', { platform }),
          icon: ExternalLink,
          onSelect: () => void open(url, '_blank', 'noopener'),
        },
      ]
