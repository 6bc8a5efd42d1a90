/** The origin of a video: the name of its platform, and its page there. Plugins may add platforms. */
import { ExternalLink } from 'lucide'
import type { Video } from '../server/records.ts'
import { t } from '../texts/lookup.ts'
import type { MenuItem } from './menu.tsx'

/** The platform of playlists, which exist only on the main platform. */
export const YOUTUBE = 'YouTube'

type Origin = Pick<Video, 'platform_name' | 'platform_url'>

/** The name is missing if the platform's plugin is missing. */
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
