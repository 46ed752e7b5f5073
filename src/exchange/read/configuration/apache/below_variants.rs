//! Entries for a code and all paths below it whose rules have conditions on `Accept`: their variants, with
//! which the table answers every client as Apache does.

use super::answer::Location;
use super::claims::Variants;
use super::clients::Clients;
use super::comparison::Comparison;
use super::negotiation::{UNLIKE, default_location, types};
use crate::exchange::read::configuration::below::{BELOW, forward_below};
use crate::exchange::read::rows::{RowError, row};
use crate::mapping::{Forward, MediaType, OwnedVariant, Target};

/// The entry of a code and all paths below it.
#[derive(Debug, Clone)]
pub(super) struct NegotiatedBelow {
    pub(super) entry: Variants,
    /// The locations to which the first path of [`BELOW`] leads.
    pub(super) all: Vec<Location>,
}

/// Where a code leads, and where paths below it do.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leads {
    url: String,
    below: Below,
}

/// Where all paths below a code lead.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Below {
    url: String,
    /// Whether what follows the code is appended.
    is_appended: bool,
}

/// A media type, where it alone leads, and the rule that decides that.
struct Single {
    media_type: MediaType,
    leads: Leads,
    line: usize,
}

/// What an entry does with paths below its code.
struct Plan {
    forward: Forward,
    below: Option<String>,
}

/// Decides on the entry of a code and the paths below it.
pub(super) fn negotiated(
    own: &Clients<'_>,
    below: &Clients<'_>,
) -> Result<NegotiatedBelow, RowError> {
    let mut location = default_location(own)?;
    let location_below = default_location(below)?;
    let default = Leads {
        url: location.url.clone(),
        below: Below::of(&location_below),
    };
    let mut types = types(own)?;
    for it in self::types(below)? {
        if !types.contains(&it) {
            types.push(it);
        }
    }
    let mut singles = Vec::new();
    let mut all = vec![location_below];
    let mut all_at_code = vec![location.clone()];
    for media_type in &types {
        let accept = media_type.as_str();
        let [at_code, at_path] = [own.answer(accept)?, below.answer(accept)?];
        if at_code.is_none() && at_path.is_none() {
            continue;
        }
        all.extend(at_path.clone());
        all_at_code.extend(at_code.clone());
        // Where Apache answers 404, the entry answers what it does to others.
        let leads = Leads {
            url: at_code.map_or_else(|| location.url.clone(), |it| it.url),
            below: at_path.map_or_else(|| default.below.clone(), |it| Below::of(&it)),
        };
        let line = below.line(accept).or_else(|| own.line(accept));
        singles.push(Single {
            media_type: media_type.clone(),
            leads,
            line: line.unwrap_or(usize::MAX),
        });
    }
    let both = || all_at_code.iter().chain(&all);
    location.use_query_as(both());
    if !both().all(|it| it.fits(&location)) {
        return Err(UNLIKE);
    }
    // The order in which Apache applies the rules.
    singles.sort_by_key(|it| it.line);
    let names: Vec<_> = types.iter().map(MediaType::as_str).collect();
    let checked = |few: &[&Single]| {
        let plan = Plan::of(&default, few, location.with_query)?;
        let entry = plan.entry(&location, &default, few)?;
        agrees(&entry, [own, below], &names, &singles)?;
        Ok(entry)
    };
    let elsewhere = singles.iter().filter(|it| it.leads != default);
    let entry = checked(&elsewhere.collect::<Vec<_>>())
        .or_else(|_: RowError| checked(&singles.iter().collect::<Vec<_>>()))?;
    let mut deviations = own.deviations(&location)?;
    deviations.extend(below.deviations(&location)?);
    deviations.sort_unstable();
    deviations.dedup();
    Ok(NegotiatedBelow {
        entry: Variants {
            deviations,
            ..entry
        },
        all,
    })
}

/// Checks that an entry leads the code and a path below it as Apache does.
fn agrees(
    entry: &Variants,
    [own, below]: [&Clients<'_>; 2],
    types: &[&str],
    singles: &[Single],
) -> Result<(), RowError> {
    let url = |it: Option<&OwnedVariant>| {
        let url = it.map_or(&*entry.location.url, |it| it.target.as_str());
        url.to_owned()
    };
    let names = singles.iter().map(|it| it.media_type.as_str());
    let urls = singles.iter().map(|it| it.leads.url.clone());
    let alone: Vec<_> = names.clone().zip(urls).collect();
    let comparison = Comparison {
        clients: own,
        location: &entry.location,
        variants: &entry.variants,
        url: &url,
    };
    comparison.agrees(types, &alone)?;
    let urls = singles.iter().map(|it| it.leads.below.path());
    let alone: Vec<_> = names.zip(urls).collect();
    let comparison = Comparison {
        clients: below,
        url: &|it| entry.url_below(it),
        ..comparison
    };
    comparison.agrees(types, &alone)
}

impl Below {
    /// Returns where all paths lead if the first of [`BELOW`] leads to a location.
    fn of(location: &Location) -> Self {
        let base = location.url.strip_suffix(BELOW[0]);
        Self {
            url: base.unwrap_or(&location.url).to_owned(),
            is_appended: base.is_some(),
        }
    }

    /// Returns where the first path of [`BELOW`] leads.
    fn path(&self) -> String {
        match self.is_appended {
            true => format!("{}{}", self.url, BELOW[0]),
            false => self.url.clone(),
        }
    }
}

impl Plan {
    /// Returns how an entry with these variants leads paths below its code.
    fn of(default: &Leads, few: &[&Single], with_query: bool) -> Result<Self, RowError> {
        let below = &default.below;
        let forward = forward_below(&below.url, below.is_appended, with_query)?;
        let is_same = |it: &Leads| it.url == it.below.url;
        if !below.is_appended {
            return match is_same(default) {
                true => Ok(Self {
                    forward,
                    below: None,
                }),
                false => Err(RowError::TO_ONE_URL),
            };
        }
        let all_are = |is: &dyn Fn(&Leads) -> bool| few.iter().all(|it| is(&it.leads));
        let all_appended = all_are(&|it| it.below.is_appended);
        if all_appended && is_same(default) && all_are(&is_same) {
            return Ok(Self {
                forward,
                below: None,
            });
        }
        let forward = match (all_appended, with_query) {
            (true, true) => Forward::Query,
            (true, false) => Forward::None,
            (false, true) => Forward::AllAndQuery,
            (false, false) => Forward::All,
        };
        Ok(Self {
            forward,
            below: Some(below.url.clone()),
        })
    }

    /// Returns the entry with one variant for adjacent types that lead alike.
    fn entry(
        self,
        location: &Location,
        default: &Leads,
        few: &[&Single],
    ) -> Result<Variants, RowError> {
        let mut variants: Vec<OwnedVariant> = Vec::new();
        let mut last: Option<&Leads> = None;
        for single in few {
            let media_type = single.media_type.clone();
            match variants.last_mut() {
                Some(variant) if last == Some(&single.leads) => variant.types.push(media_type),
                _ => variants.push(OwnedVariant {
                    types: vec![media_type],
                    target: row::target("url", &single.leads.url)?.into_owned(),
                    below: self.below_of(&single.leads, default, location.with_query)?,
                }),
            }
            last = Some(&single.leads);
        }
        Ok(Variants {
            location: location.clone(),
            forward: self.forward,
            below: self.below,
            variants,
            deviations: Vec::new(),
        })
    }

    /// Returns `below` of a variant, if it needs one.
    fn below_of(
        &self,
        leads: &Leads,
        default: &Leads,
        with_query: bool,
    ) -> Result<Option<Target<'static>>, RowError> {
        let below = &leads.below;
        forward_below(&below.url, below.is_appended, with_query)?;
        match (self.forward.all(), below.is_appended) {
            (true, false) if below.url == leads.url => Ok(None),
            (_, false) => Err(RowError::TO_ONE_URL),
            (false, true) if self.forward.path() || below.url == default.below.url => Ok(None),
            (_, true) => row::target("below", &below.url).map(|it| Some(it.into_owned())),
        }
    }
}

impl Variants {
    /// Returns where the first path of [`BELOW`] leads with a variant, or without one.
    fn url_below(&self, variant: Option<&OwnedVariant>) -> String {
        let own = variant.map_or(&*self.location.url, |it| it.target.as_str());
        let below = variant.and_then(|it| it.below.as_ref());
        let appended = match (below, &self.below) {
            (Some(below), _) => below.as_str(),
            (None, Some(below)) if variant.is_none() || !self.forward.all() => below,
            _ if self.forward.path() => own,
            _ => return own.to_owned(),
        };
        format!("{appended}{}", BELOW[0])
    }
}
